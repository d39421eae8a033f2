/** The share over time, and the run queue on its virtual axis, as pictures. */
import { brush, digits, fill, HUES, line, shape, step } from "./brush.js";

/**
 * @param {import("./lab.js").Lab} lab @param {HTMLCanvasElement} canvas @param {any} view
 */
export function paintShare(lab, canvas, view) {
  const b = brush(canvas, view);
  const { g, c, s } = b;
  const session = /** @type {import("./types.js").Session} */ (lab.session);
  const left = 44 * s;
  const right = 10 * s;
  const top = 12 * s;
  const floor = view.height - 30 * s;
  const n = view.spans.length;
  const gap = n > 1 ? 22 * s : 0;
  const each = (view.width - left - right - gap * (n - 1)) / n;
  const points = Math.max(2, Math.min(1200, Math.round(each * 1.5)));
  const stop = view.played_ns === null ? Infinity : view.played_ns;
  const curves = view.spans.map((/** @type {[number, number]} */ [a, z]) => view.rows.map((/** @type {number} */ row) => lab.once(`curve ${row} ${view.task} ${a} ${z} ${points}`, () => session.share_curve(row, view.task, a, z, view.window_ns, points))));
  const most = Math.max(0.1, ...curves.flat().map((/** @type {Float32Array} */ q) => q.reduce((m, v) => Math.max(m, v), 0)));
  const max = Math.min(1, Math.ceil(most * 10 + 0.6) / 10);
  const y = (/** @type {number} */ share) => floor - (share / max) * (floor - top);

  b.font(12);
  for (let p = 0; p <= max * 100 + 0.1; p += max > 0.6 ? 20 : 10) {
    g.strokeStyle = p ? c.rule : c.edge;
    g.lineWidth = 1;
    line(g, left, y(p / 100), view.width - right, y(p / 100));
    g.fillStyle = c.ink2;
    g.textAlign = "right";
    g.fillText(`${p}${p + (max > 0.6 ? 20 : 10) > max * 100 + 0.1 ? " %" : ""}`, left - 7 * s, y(p / 100));
  }
  /** @type {{ x: number, width: number, from_ns: number, to_ns: number }[]} */
  const plots = [];
  view.spans.forEach((/** @type {[number, number]} */ [a, z], /** @type {number} */ k) => {
    const x0 = left + k * (each + gap);
    plots.push({ x: x0, width: each, from_ns: a, to_ns: z });
    const x = (/** @type {number} */ t) => x0 + ((t - a) / (z - a)) * each;
    if (k) {
      g.fillStyle = c.surface;
      g.fillRect(x0 - gap, 0, gap, floor + 4 * s);
      g.strokeStyle = c.edge;
      g.setLineDash([3 * s, 3 * s]);
      line(g, x0 - gap + 3 * s, top - 4 * s, x0 - gap + 3 * s, floor);
      line(g, x0 - 3 * s, top - 4 * s, x0 - 3 * s, floor);
      g.setLineDash([]);
    }
    const zero = view.origins_ns[k];
    const unit = z - a < 5e9 ? 1e6 : 1e9;
    const big = step((z - a) / unit, Math.max(2, each / (80 * s)));
    g.textAlign = "center";
    for (let i = Math.ceil((a - zero) / unit / big); i * big * unit + zero <= z; i++) {
      const t = zero + i * big * unit;
      const event = i === 0 && view.origin_labels[k];
      g.strokeStyle = event ? c.ink2 : c.rule;
      line(g, x(t), top, x(t), floor);
      b.font(12, event ? 600 : 400);
      g.fillStyle = event ? c.ink : c.ink2;
      const text = event ? view.origin_labels[k] : fill(unit === 1e6 ? view.labels.ms : view.labels.s, { n: b.num(i * big, digits(big), Boolean(view.origin_labels[k])) });
      const half = g.measureText(text).width / 2;
      if (x(t) - half >= x0 - 12 * s && x(t) + half <= x0 + each + 10 * s) g.fillText(text, x(t), floor + 15 * s);
    }
    g.save();
    g.beginPath();
    g.rect(x0, 0, each, floor + 2);
    g.clip();
    view.rows.forEach((/** @type {number} */ row, /** @type {number} */ r) => {
      // The closed form: what the weights alone say, instant by instant.
      g.strokeStyle = c.ink2;
      g.lineWidth = 1.25 * s;
      g.lineCap = "round";
      g.setLineDash([1 * s, 4 * s]);
      g.beginPath();
      for (const [t, ideal, last] of closedForm(lab, row, view.task, a, z)) {
        if (t > stop) break;
        if (last !== ideal) g.lineTo(x(t), y(last));
        g.lineTo(x(t), y(ideal));
      }
      g.stroke();
      g.setLineDash([]);
      g.strokeStyle = c.low;
      g.lineWidth = (r ? 3.5 : 1.6) * s;
      g.beginPath();
      const curve = curves[k][r];
      for (let i = 0; i < curve.length; i++) {
        const t = a + ((z - a) * i) / (curve.length - 1);
        if (t > stop) break;
        g.lineTo(x(t), y(curve[i]));
      }
      g.stroke();
      g.lineCap = "butt";
    });
    if (view.cursor_ns >= a && view.cursor_ns <= z) {
      g.strokeStyle = c.cursor;
      g.lineWidth = 1;
      line(g, x(view.cursor_ns), top, x(view.cursor_ns), floor);
    }
    g.restore();
    if (k === 0 && stop >= z) {
      const lastA = curves[0][0].at(-1) ?? 0;
      const lastB = curves[0][1]?.at(-1) ?? 0;
      g.fillStyle = c.low;
      g.textAlign = "right";
      b.font(12, 600);
      g.fillText(view.row_labels[0], x0 + each - 6 * s, y(lastA) - 13 * s);
      if (Math.abs(lastA - lastB) > 0.06 * max) g.fillText(view.row_labels[1], x0 + each - 6 * s, y(lastB) - 13 * s > top ? y(lastB) - 13 * s : y(lastB) + 14 * s);
    }
  });
  return { plots, max };
}

/** Instants at which the closed form is asked for, besides the marks. */
const SAMPLES = 4;

/**
 * The closed form over a span: it changes with loans, nice and blocking, so it is asked for after each mark and a few times more.
 * @param {import("./lab.js").Lab} lab @param {number} row @param {number} task @param {number} a @param {number} z
 * @returns {[at: number, ideal: number, before: number][]}
 */
function closedForm(lab, row, task, a, z) {
  return lab.once(`ideal ${row} ${task} ${a} ${z}`, () => {
    const session = /** @type {import("./types.js").Session} */ (lab.session);
    const marks = lab.marks[row].filter((m) => m.at_ns > a && m.at_ns < z && /boost|nice|policy|variant|block|timeout/.test(m.kind)).slice(0, 12);
    const times = [...new Set([...Array.from({ length: SAMPLES + 1 }, (_, i) => a + ((z - a) * i) / SAMPLES), ...marks.map((m) => m.at_ns + 1)])].sort((p, q) => p - q);
    let before = NaN;
    return times.map((t) => {
      const ideal = session.ideal_share(row, t, task);
      /** @type {[number, number, number]} */
      const step = [t, ideal, Number.isNaN(before) ? ideal : before];
      before = ideal;
      return step;
    });
  });
}

/**
 * @param {import("./lab.js").Lab} lab @param {HTMLCanvasElement} canvas @param {number} row @param {number} at @param {any} view
 * @returns {{ span: [number, number] }}
 */
export function paintQueue(lab, canvas, row, at, view) {
  const b = brush(canvas, view);
  const { g, c, s } = b;
  const q = lab.queue(row, at);
  const eevdf = q.kind === "eevdf";
  const roles = new Map(lab.info.tasks.map((t) => [t.name, t.role]));
  const shown = q.entities.slice(0, 6);
  const values = shown.flatMap((e) => [e.vruntime - q.v, ...(eevdf ? [e.deadline - q.v] : [])]);
  /** @type {[number, number]} */
  let span = view.span ?? [0, 0];
  if (!view.span) {
    const lo = Math.min(0, ...values);
    const hi = Math.max(0, ...values);
    const size = Math.max(hi - lo, 2e5);
    span = [lo - 0.16 * size, hi + 0.3 * size];
  }
  const left = 10 * s;
  const wide = view.width - 20 * s;
  const x = (/** @type {number} */ d) => left + ((d - span[0]) / (span[1] - span[0])) * wide;
  const top = 28 * s;
  const floor = view.height - 44 * s;

  if (eevdf) {
    g.fillStyle = c.zone;
    g.fillRect(left, top, Math.max(0, x(0) - left), floor - top);
  }
  const unit = 1e6;
  const big = step((span[1] - span[0]) / unit, Math.max(2, wide / (64 * s)));
  b.font(12);
  g.textAlign = "center";
  for (let i = Math.ceil(span[0] / unit / big); i * big * unit <= span[1]; i++) {
    const px = x(i * big * unit);
    g.strokeStyle = c.edge;
    g.lineWidth = 1;
    line(g, px, floor, px, floor + 5 * s);
    if (i === 0) continue;
    g.fillStyle = c.ink2;
    if (Math.abs(px - x(0)) > 22 * s) g.fillText(b.num(i * big, digits(big), true), px, floor + 15 * s);
  }
  g.strokeStyle = c.edge;
  line(g, left, floor, left + wide, floor);
  g.textAlign = "right";
  g.fillStyle = c.ink2;
  g.fillText(view.labels[eevdf ? "axis" : "axis_cfs"], left + wide, floor + 34 * s);

  const fulcrum = x(0);
  g.strokeStyle = c.ink;
  g.lineWidth = 1.5 * s;
  line(g, fulcrum, top - 18 * s, fulcrum, floor);
  g.beginPath();
  g.moveTo(fulcrum, floor + 1);
  g.lineTo(fulcrum + 8 * s, floor + 13 * s);
  g.lineTo(fulcrum - 8 * s, floor + 13 * s);
  g.closePath();
  g.stroke();
  b.font(12, 600);
  g.fillStyle = c.ink;
  g.textAlign = "center";
  g.fillText(eevdf ? "V" : view.labels.min_vruntime, Math.max(fulcrum, eevdf ? 0 : 46 * s), floor + 24 * s);
  if (eevdf) {
    b.font(12);
    g.fillStyle = c.ink2;
    const room = fulcrum - left;
    g.textAlign = "right";
    if (room > g.measureText(view.labels.eligible).width + 8 * s) g.fillText(view.labels.eligible, fulcrum - 8 * s, top - 12 * s);
    g.textAlign = "left";
    g.fillText(view.labels.not_eligible, fulcrum + 8 * s, top - 12 * s, left + wide - fulcrum - 8 * s);
  }

  const most = Math.max(...shown.map((e) => e.weight), 1);
  const gap = (floor - top) / (shown.length + 0.4);
  shown.forEach((e, i) => {
    const y = top + gap * (i + 0.7);
    const role = roles.get(e.name) ?? "other";
    const hue = c[HUES[role].hue];
    const px = x(e.vruntime - q.v);
    g.strokeStyle = g.fillStyle = hue;
    g.lineWidth = 1.5 * s;
    g.setLineDash([3 * s, 3 * s]);
    line(g, fulcrum, y, px, y);
    g.setLineDash([]);
    const end = eevdf ? x(e.deadline - q.v) : px;
    if (eevdf) {
      line(g, px, y, end, y);
      g.lineWidth = 1.75 * s;
      g.beginPath();
      g.moveTo(end, y + 9 * s);
      g.lineTo(end, y - 9 * s);
      g.lineTo(end + 7 * s, y - 9 * s);
      g.lineTo(end + 4.4 * s, y - 5.5 * s);
      g.lineTo(end + 7 * s, y - 2 * s);
      g.lineTo(end, y - 2 * s);
      g.stroke();
    }
    // Area is weight.
    shape(g, role, px, y, Math.max(3, 10 * s * Math.sqrt(e.weight / most)));
    if (!eevdf && e.eligible) {
      g.beginPath();
      g.arc(px, y, 15 * s, 0, 7);
      g.stroke();
    }
    b.font(12, 600);
    const rest = eevdf ? fill(view.labels.lag, { n: b.num(e.lag / 1e6, 3, true) }) : b.num(-e.lag / 1e6, 3, true);
    const head = `${e.name}  `;
    const wb = g.measureText(head).width;
    b.font(12);
    const total = wb + g.measureText(rest).width;
    let at = Math.max(end, px) + 14 * s;
    let ty = y;
    if (at + total > left + wide) {
      at = Math.max(left, left + wide - total);
      ty = y - 17 * s;
    }
    g.textAlign = "left";
    b.font(12, 600);
    g.fillText(head, at, ty);
    b.font(12);
    g.fillText(rest, at + wb, ty);
  });
  return { span };
}
