/**
 * The timeline as a picture: state is a height before it is a colour, a loan is solid when it counts and hollow
 * when it does not, and where runs are narrower than a pixel a density is drawn, never the last colour.
 */
import { brush, digits, fill, HUES, line, shape, step } from "./brush.js";

/** States as `segments` gives them. */
const RUNNING = 0;
const READY = 1;
const BLOCKED = 2;
const SLEEPING = 3;

/** Heights at scale 1, CSS px. */
const TRACK = 27.5;
const RULER = 34;
const BOOST = 26;
const GAP = 18;
const RUN = 20;
const WAIT = 6;
const BLOCK = 14;

/** Segments per pixel from which on a density is drawn. */
const DENSE = 0.7;

/**
 * @param {import("./lab.js").Lab} lab @param {HTMLCanvasElement} canvas @param {any} view
 * @returns {import("./types.js").Painted}
 */
export function paintTimeline(lab, canvas, view) {
  const b = brush(canvas, view);
  const { g, c, s } = b;
  const session = /** @type {import("./types.js").Session} */ (lab.session);
  const narrow = view.width < 480 * s;
  const order = [...lab.info.tasks].sort((x, y) => RANK[x.role] - RANK[y.role]);
  const locks = lab.info.locks;
  b.font(12);
  const longest = Math.max(...[...order, ...locks].map((t) => g.measureText(t.name).width), 0);
  const gutter = Math.min(longest + (narrow ? 20 : 26) * s, view.width * 0.3);
  const end = (narrow ? 10 : 24) * s;
  const left = view.rtl ? end : gutter;
  const wide = Math.max(1, view.width - gutter - end);
  const x = (/** @type {number} */ t) => left + ((t - view.from_ns) / (view.to_ns - view.from_ns)) * wide;
  const top = view.ruler ? RULER * s : 4;
  const track = TRACK * s * (order.length + locks.length > 8 ? 0.8 : 1);
  const tall = BOOST * s + track * (order.length + locks.length);
  const need = top + view.rows.length * tall + (view.rows.length - 1) * GAP * s + 6 * s;
  const until = view.played_ns === null || view.played_ns === undefined ? lab.duration : Math.min(view.played_ns, lab.duration);
  const from = Math.max(0, view.from_ns);
  const to = Math.min(view.to_ns, until);

  ruler();
  /** @type {import("./types.js").Painted["tracks"]} */
  const tracks = [];
  view.rows.forEach((/** @type {number} */ row, /** @type {number} */ i) => {
    let y = top + i * (tall + GAP * s);
    const lane = y + (BOOST - 7) * s;
    y += BOOST * s;
    const ys = new Map();
    for (const t of order) {
      ys.set(t.name, y + track / 2);
      name(t.name, y + track / 2, () => shape(g, t.role, 0, 0, 4.5 * s), HUES[t.role].hue);
      tracks.push({ row, kind: "task", name: t.name, y, height: track });
      y += track;
    }
    const lockYs = new Map();
    for (const l of locks) {
      lockYs.set(l.name, y + track / 2);
      name(l.name, y + track / 2, () => padlock(), "ink");
      tracks.push({ row, kind: "lock", name: l.name, y, height: track });
      y += track;
    }
    g.save();
    g.beginPath();
    g.rect(left - 1, top - 8 * s, wide + 2, need);
    g.clip();
    if (to > from) {
      for (const t of order) states(row, t, ys.get(t.name));
      owners(row, lockYs, ys);
      loans(row, lane, ys);
    }
    g.restore();
  });
  cursor();
  return { height: need, plot: { x: left, width: wide }, tracks };

  /** @param {string} text @param {number} y @param {() => void} mark @param {string} hue */
  function name(text, y, mark, hue) {
    const at = view.rtl ? view.width - 6 * s : 6 * s;
    g.save();
    g.translate(at, y);
    g.fillStyle = g.strokeStyle = c[hue];
    mark();
    g.restore();
    b.font(12);
    g.fillStyle = c.ink;
    g.textAlign = view.rtl ? "right" : "left";
    g.fillText(fit(text, gutter - 18 * s), view.rtl ? at - 10 * s : at + 10 * s, y + 0.5);
  }

  /** @param {string} text @param {number} most */
  function fit(text, most) {
    if (g.measureText(text).width <= most) return text;
    while (text.length > 1 && g.measureText(`${text}…`).width > most) text = text.slice(0, -1);
    return `${text}…`;
  }

  function padlock() {
    g.lineWidth = 1.3 * s;
    g.strokeRect(-4 * s, -0.5 * s, 8 * s, 5.5 * s);
    g.beginPath();
    g.moveTo(-2.4 * s, -0.5 * s);
    g.lineTo(-2.4 * s, -2.6 * s);
    g.arc(0, -2.6 * s, 2.4 * s, Math.PI, 0);
    g.lineTo(2.4 * s, -0.5 * s);
    g.stroke();
  }

  function ruler() {
    const span = view.to_ns - view.from_ns;
    const unit = span < 5e5 ? 1e3 : span < 5e9 ? 1e6 : 1e9;
    const word = unit === 1e3 ? view.labels.us : unit === 1e6 ? view.labels.ms : view.labels.s;
    const big = step(span / unit, Math.max(2, wide / (100 * s)));
    const zero = view.origin_ns;
    const label = (/** @type {number} */ n) => fill(word, { n: b.num(n, digits(big), zero !== 0) });
    const first = Math.ceil((view.from_ns - zero) / unit / big);
    const last = Math.floor((view.to_ns - zero) / unit / big);
    g.textAlign = "center";
    b.font(12);
    for (let k = first; k <= last && k - first < 100; k++) {
      const at = x(zero + k * big * unit);
      g.strokeStyle = c.rule;
      g.lineWidth = 1;
      line(g, at, top - 6 * s, at, need);
      if (!view.ruler) continue;
      g.fillStyle = c.ink2;
      const text = label(k * big);
      const half = g.measureText(text).width / 2;
      // The cursor's pill lies on top of the labels: half a label beside it would only puzzle.
      const pill = view.cursor_ns >= view.from_ns && view.cursor_ns <= view.to_ns && Math.abs(at - x(view.cursor_ns)) < half + 42 * s;
      if (!pill && at - half > left - 30 * s && at + half < left + wide + end) g.fillText(text, at, 9 * s);
    }
    if (!view.ruler) return;
    g.strokeStyle = c.edge;
    line(g, left, top - 10 * s, left + wide, top - 10 * s);
    // Ticks of the machine, where they can be told apart.
    const tick = 1e9 / lab.info.hz;
    if ((tick / span) * wide >= 5) {
      for (let t = Math.ceil(view.from_ns / tick) * tick; t <= view.to_ns; t += tick) line(g, x(t), top - 10 * s, x(t), top - 6 * s);
    }
    if (view.select) {
      const [a, z] = view.select.map(x);
      g.strokeStyle = c.ink;
      g.lineWidth = 2 * s;
      g.beginPath();
      g.moveTo(a, top - 5 * s);
      g.lineTo(a, top - 10 * s);
      g.lineTo(z, top - 10 * s);
      g.lineTo(z, top - 5 * s);
      g.stroke();
    }
  }

  /** @param {number} row @param {import("./types.js").TaskInfo} task @param {number} y */
  function states(row, task, y) {
    const hue = HUES[task.role];
    const all = session.segments(row, task.id, from, to);
    const count = all.length / 3;
    if (count > wide * DENSE) return density(row, task, y, hue);
    for (let i = 0; i < all.length; i += 3) {
      const a = Math.max(all[i], from);
      const z = i + 3 < all.length ? all[i + 3] : to;
      const state = all[i + 1];
      const x1 = x(a);
      const x2 = x(z);
      const px = x2 - x1;
      g.lineWidth = 1 * s;
      g.strokeStyle = c[hue.hue];
      if (state === RUNNING) {
        g.fillStyle = c[hue.hue];
        g.beginPath();
        // A run of a few µs is two pixels, so that it can be seen; no share is read off the picture.
        g.roundRect(x1, y - (RUN / 2) * s, Math.max(px, 2), RUN * s, Math.min(1.5 * s, px / 3));
        g.fill();
        const text = fill(view.labels.ms, { n: b.num((z - a) / 1e6, 1) });
        b.font(11.5);
        if (a > view.from_ns && z < view.to_ns && px > g.measureText(text).width + 14 * s && z - a >= 1e6) {
          g.fillStyle = c[hue.on];
          g.textAlign = "center";
          g.fillText(text, (x1 + x2) / 2, y + 0.5);
        }
      } else if (state === READY) {
        g.fillStyle = c[hue.wash];
        g.fillRect(x1, y - (WAIT / 2) * s, px, WAIT * s);
        if (px > 1) g.strokeRect(x1 + 0.5, y - (WAIT / 2) * s, px - 1, WAIT * s);
      } else if (state === BLOCKED) stripes(x1, x2, y, hue, lab.info.locks[all[i + 2]]?.name ?? "");
      else if (state === SLEEPING) {
        g.lineWidth = 1.5 * s;
        g.lineCap = "round";
        g.setLineDash([1.5 * s, 5 * s]);
        line(g, x1, y, x2, y);
        g.setLineDash([]);
        g.lineCap = "butt";
      }
    }
  }

  /** @param {number} x1 @param {number} x2 @param {number} y @param {typeof HUES[string]} hue @param {string} lock */
  function stripes(x1, x2, y, hue, lock) {
    const h = BLOCK * s;
    const a = Math.max(x1, left - 2);
    const z = Math.min(x2, left + wide + 2);
    if (z - a < 1) return;
    g.fillStyle = c[hue.wash];
    g.fillRect(a, y - h / 2, z - a, h);
    g.save();
    g.beginPath();
    g.rect(a, y - h / 2, z - a, h);
    g.clip();
    g.lineWidth = 1.6 * s;
    g.beginPath();
    const by = 8.4 * s;
    for (let k = Math.floor((a - h) / by) * by; k < z; k += by) {
      g.moveTo(k, y + h / 2);
      g.lineTo(k + h, y - h / 2);
    }
    g.stroke();
    g.restore();
    const text = fill(view.labels.blocked_on, { lock });
    b.font(12);
    const room = g.measureText(text).width + 12 * s;
    if (z - a > room + 20 * s && text) {
      g.fillStyle = c[hue.wash];
      g.fillRect(a + 12 * s, y - h / 2, room, h);
      g.fillStyle = c[hue.hue];
      g.textAlign = "left";
      g.fillText(text, a + 18 * s, y + 0.5);
    }
    g.lineWidth = 1 * s;
    g.strokeRect(a + 0.5, y - h / 2, z - a - 1, h);
  }

  /** Where runs are too narrow: per pixel the part of it that ran, as height. @param {number} row @param {import("./types.js").TaskInfo} task @param {number} y @param {typeof HUES[string]} hue */
  function density(row, task, y, hue) {
    const a = Math.max(view.from_ns, from);
    const z = Math.min(view.to_ns, to);
    // Whole pixels: a column that straddles two would blend its hue with what lies beneath.
    const first = Math.round(x(a));
    session.paint_density(g, row, task.id, a, z, first, Math.max(0, Math.round(x(z)) - first), y, s, c[hue.hue], c[hue.wash]);
  }

  /** Who owns each lock: pills; handed over and not yet taken, dotted. @param {number} row @param {Map<string, number>} ys @param {Map<string, number>} tasks */
  function owners(row, ys, tasks) {
    void tasks;
    for (const l of lab.info.locks) {
      const y = /** @type {number} */ (ys.get(l.name));
      /** @type {{ owner: string, from: number, given: boolean } | null} */
      let held = null;
      const close = (/** @type {number} */ at) => {
        if (held && at > from && held.from < to) pill(held.owner, held.from, Math.min(at, to), y, held.given);
        held = null;
      };
      for (const m of lab.marks[row]) {
        if (m.lock !== l.name || m.at_ns > to) continue;
        if (m.kind === "lock") {
          close(m.at_ns);
          held = { owner: m.task ?? "", from: m.at_ns, given: false };
        } else if (m.kind === "unlock") close(m.at_ns);
        else if (m.kind === "handover" || m.kind === "owner-died") {
          close(m.at_ns);
          if (m.donor) held = { owner: m.donor, from: m.at_ns, given: true };
        }
      }
      close(to);
    }
  }

  /** @param {string} owner @param {number} a @param {number} z @param {number} y @param {boolean} given */
  function pill(owner, a, z, y, given) {
    const role = lab.info.tasks.find((t) => t.name === owner)?.role ?? "other";
    const hue = HUES[role];
    const x1 = Math.max(x(a), left - 1);
    const x2 = Math.min(Math.max(x(z), x1 + 2), left + wide + 1);
    const h = BLOCK * s;
    g.beginPath();
    g.roundRect(x1 + 0.5, y - h / 2, Math.max(1, x2 - x1 - 1), h, h / 2);
    g.fillStyle = c[hue.wash];
    g.strokeStyle = c[hue.hue];
    g.lineWidth = 1 * s;
    if (given) g.setLineDash([2 * s, 2 * s]);
    else g.fill();
    g.stroke();
    g.setLineDash([]);
    const text = fill(given ? view.labels.owner_next : view.labels.owned_by, { task: owner });
    b.font(12);
    if (x2 - x1 > g.measureText(text).width + 16 * s) {
      g.fillStyle = c[hue.hue];
      g.textAlign = "left";
      g.fillText(text, x1 + 8 * s, y + 0.5);
    }
  }

  /** Boosts with their spans, deboosts, and other changes. @param {number} row @param {number} lane @param {Map<string, number>} ys */
  function loans(row, lane, ys) {
    /** @type {{ at: number, solid: boolean } | null} */
    let open = null;
    let textEnd = -Infinity;
    const span = (/** @type {number} */ a, /** @type {number} */ z, /** @type {boolean} */ solid) => {
      g.strokeStyle = c.low;
      g.lineWidth = 4 * s;
      line(g, Math.max(x(a), left - 4), lane, Math.min(x(z), left + wide + 4), lane);
      if (!solid) {
        g.strokeStyle = c.surface;
        g.lineWidth = 1.4 * s;
        line(g, Math.max(x(a), left - 4), lane, Math.min(x(z) - 1.3 * s, left + wide + 4), lane);
      }
    };
    // The first wording that fits beside the mark.
    const say = (/** @type {number} */ at, /** @type {string} */ bold, /** @type {string[]} */ ...wordings) => {
      const gap = 10 * s;
      b.font(11.5, 600);
      const wb = bold ? g.measureText(`${bold} `).width : 0;
      b.font(11.5);
      const rest = wordings.find((q) => x(at) + gap + wb + g.measureText(q).width <= left + wide) ?? wordings[0];
      const total = wb + g.measureText(rest).width;
      let start = x(at) + gap;
      if (start + total > left + wide) start = x(at) - gap - total;
      if (start < textEnd || start < left) return;
      textEnd = start + total + 8 * s;
      g.textAlign = "left";
      g.fillStyle = c.ink;
      b.font(11.5, 600);
      g.fillText(bold, start, lane - 9 * s);
      b.font(11.5);
      g.fillText(rest, start + wb, lane - 9 * s);
    };
    /** @type {(() => void)[]} */
    const marks = [];
    const holder = lab.info.holder;
    for (const m of lab.marks[row]) {
      if (m.at_ns > to) break;
      const near = m.at_ns >= from - (view.to_ns - view.from_ns) * 0.02;
      if ((m.kind === "boost" || m.kind === "deboost") && m.task === holder) {
        const own = 120 + (lab.holder?.nice ?? 0);
        const moves = m.weight !== m.old_weight;
        if (open) {
          span(open.at, m.at_ns, open.solid);
          open = null;
        }
        if (m.prio !== undefined && m.prio < own) open = { at: m.at_ns, solid: moves || (m.weight ?? 0) !== (lab.holder?.weight ?? 0) };
        if (!near) continue;
        const values = { weight: m.weight, old_weight: m.old_weight, old: m.old_prio, new: m.prio };
        say(m.at_ns, m.kind === "boost" ? view.labels.boosted : view.labels.deboost, fill(moves ? view.labels.weight_moves : view.labels.weight_stays, values), fill(moves ? view.labels.brief_moves : view.labels.brief_stays, values), "");
        marks.push(() => triangle(x(m.at_ns), lane, m.kind === "boost", moves));
        const donor = m.kind === "boost" && m.donor ? ys.get(m.donor) : undefined;
        const at = ys.get(m.task ?? "");
        if (donor !== undefined && at !== undefined) marks.push(() => arrow(x(m.at_ns), donor, at));
      } else if (near && (m.kind === "nice" || m.kind === "variant" || m.kind === "policy") && m.at_ns > 0) {
        const text = m.kind === "variant" ? fill(view.labels.variant, { variant: m.pi ?? "" }) : `${m.task}: ${m.kind === "nice" ? `nice ${m.nice}` : fill("{weight}", { weight: m.weight })}`;
        const y = ys.get(m.task ?? "") ?? lane;
        marks.push(() => {
          g.strokeStyle = c[m.kind === "variant" ? "patch" : "ink"];
          g.lineWidth = 1.5 * s;
          line(g, x(m.at_ns), y - 13 * s, x(m.at_ns), y + 13 * s);
        });
        say(m.at_ns, "", text);
      }
    }
    if (open) span(open.at, to, open.solid);
    for (const draw of marks) draw();
  }

  /** @param {number} at @param {number} y @param {boolean} up @param {boolean} solid */
  function triangle(at, y, up, solid) {
    const h = (up ? 5.5 : -5.5) * s;
    g.beginPath();
    g.moveTo(at, y - h);
    g.lineTo(at + 6 * s, y + h * 0.8);
    g.lineTo(at - 6 * s, y + h * 0.8);
    g.closePath();
    g.fillStyle = solid ? c.low : c.surface;
    g.strokeStyle = c.low;
    g.lineWidth = 1.5 * s;
    g.fill();
    g.stroke();
  }

  /** The waiter lends to the holder. @param {number} at @param {number} y1 @param {number} y2 */
  function arrow(at, y1, y2) {
    const up = y2 < y1 ? 1 : -1;
    const tip = y2 + up * 11 * s;
    g.strokeStyle = g.fillStyle = c.high;
    g.lineWidth = 1.5 * s;
    line(g, at, y1 - up * 7 * s, at, tip + up * 6 * s);
    g.beginPath();
    g.moveTo(at, tip);
    g.lineTo(at + 4 * s, tip + up * 7 * s);
    g.lineTo(at - 4 * s, tip + up * 7 * s);
    g.fill();
  }

  function cursor() {
    const inside = (/** @type {number | null} */ t) => t !== null && t >= view.from_ns && t <= view.to_ns;
    if (inside(view.hover_ns)) {
      g.strokeStyle = c.edge;
      g.lineWidth = 1;
      line(g, x(view.hover_ns), top - 8 * s, x(view.hover_ns), need);
    }
    if (!inside(view.cursor_ns)) return;
    const at = x(view.cursor_ns);
    // Without its casing it would vanish on slate.
    g.strokeStyle = c.surface;
    g.lineWidth = 5 * s;
    line(g, at, top - 8 * s, at, need);
    g.strokeStyle = c.cursor;
    g.lineWidth = 1.75 * s;
    line(g, at, top - 8 * s, at, need);
    if (!view.ruler) return;
    b.font(11.5, 600);
    const d = view.cursor_ns - view.origin_ns;
    const text = Math.abs(d) < 1e9 ? fill(view.labels.ms, { n: b.num(d / 1e6, 2, view.origin_ns !== 0) }) : fill(view.labels.s, { n: b.num(d / 1e9, 4, view.origin_ns !== 0) });
    const w = g.measureText(text).width + 14 * s;
    const px = Math.max(left, Math.min(at - w / 2, view.width - w - 1));
    g.fillStyle = c.cursor;
    g.beginPath();
    g.roundRect(px, 0, w, 18 * s, 2 * s);
    g.moveTo(at - 5 * s, 17 * s);
    g.lineTo(at, 24 * s);
    g.lineTo(at + 5 * s, 17 * s);
    g.fill();
    g.fillStyle = c.surface;
    g.textAlign = "center";
    g.fillText(text, px + w / 2, 9.5 * s);
  }
}

/** @type {Record<import("./types.js").Role, number>} */
const RANK = { holder: 0, other: 1, waiter: 2 };
