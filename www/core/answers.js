/** The big numbers: for each row its name, the holder's share, the weights that make it, and where the number comes from. */
import { el, say, set } from "./dom.js";

/** More tasks than this are told together in a weight bar. */
const MOST_SEGMENTS = 5;

/**
 * @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx
 * @returns {import("./types.js").Part}
 */
export function answers(lab, ctx) {
  const { words: w, theme } = ctx;
  const cap = el("div", { class: "cap" });
  const rows = [0, 1].map((row) => {
    const unit = el("span", { class: "u" });
    const number = document.createTextNode("");
    // A `data` element: its value is the unrounded fraction, its text what a reader sees.
    const data = el("data", { class: "answer", part: "answer", "data-share": "" }, number, unit);
    const name = el("span", { id: `row-${row}`, class: "long" });
    const short = el("span", { class: "brief", "aria-hidden": "true" });
    const bar = el("div", { class: "wbar", "aria-hidden": "true" });
    const note = el("div", { class: "cap" });
    const sw = row
      ? el("button", { class: "sw", type: "button", role: "switch", "data-control": "pi", "aria-label": w.t("the-patch"), onclick: () => lab.togglePatch() }, el("i", { "aria-hidden": "true" }))
      : null;
    const node = el("div", { class: "run", role: "group", "aria-labelledby": `row-${row}`, "data-row": "ab"[row] }, el("div", { class: "run-h" }, name, short, sw), data, bar, note);
    return { node, name, short, data, number, unit, bar, note, sw, shown: NaN, frame: 0 };
  });
  const node = el("div", { class: "answers", part: "answers" }, cap, rows.map((r) => r.node));

  /** @param {typeof rows[0]} r @param {number} share */
  function write(r, share) {
    const text = w.percent(share);
    if (r.number.data !== text) r.number.data = text;
  }

  /** Moves the number to its new value, unless the reader is dragging or wants no motion. @param {typeof rows[0]} r @param {number} to */
  function move(r, to) {
    cancelAnimationFrame(r.frame);
    r.frame = 0;
    const from = r.shown;
    r.shown = to;
    if (!Number.isFinite(from) || theme.reducedMotion || ctx.dragging || lab.playing || Math.abs(from - to) < 0.0005) return write(r, to);
    const t0 = performance.now();
    const go = () => {
      const k = Math.min(1, (performance.now() - t0) / 240);
      write(r, k < 1 ? from + (to - from) * (1 - (1 - k) ** 3) : to);
      r.frame = k < 1 ? requestAnimationFrame(go) : 0;
    };
    r.frame = requestAnimationFrame(go);
  }

  /** @param {number} row */
  function draw(row) {
    const r = rows[row];
    const pi = row ? lab.info.pi : "stock";
    r.node.dataset.pi = pi;
    say(r.name, rowName(w, row, pi));
    say(r.short, w.t(row ? `brief-${pi}` : "brief-stock"));
    if (r.sw) {
      const on = pi !== "stock";
      r.sw.setAttribute("aria-checked", String(on));
      say(/** @type {Element} */ (r.sw.firstChild), w.t(on ? "on" : "off"));
    }
    const covered = lab.covered(row);
    const answer = covered ? null : lab.answer(row);
    r.data.classList.toggle("none", !answer);
    say(r.unit, answer ? `\u202f%` : "");
    if (!answer) {
      cancelAnimationFrame(r.frame);
      r.frame = 0;
      r.shown = NaN;
      r.data.value = "";
      r.data.dataset.share = "";
      r.number.data = covered ? "?" : "–";
      set(r.bar);
      say(r.note, covered ? w.t("guess-hidden") : w.t("no-holder"));
      return;
    }
    r.data.value = String(answer.share);
    r.data.dataset.share = String(answer.share);
    move(r, answer.share);
    const weights = weightsOf(lab, row, (answer.from + answer.to) / 2);
    bar(r.bar, weights);
    const parts = [];
    if (weights.real) parts.push(w.t("weights-rt", { prio: weights.prio }));
    else if (weights.sum > 0) parts.push(w.t("weights-of", { weight: weights.own, sum: weights.sum }));
    const recorded = ctx.recorded?.(row);
    if (recorded !== undefined) parts.push(w.t("recorded-share", { share: w.percent(recorded, 2) }));
    say(r.note, parts.join("\u2002·\u2002"));
  }

  return {
    node,
    update(what) {
      if (!["session", "time", "play", "cover", "theme"].some((t) => what.has(/** @type {never} */ (t)))) return;
      if (!what.has("session") && !what.has("cover") && !what.has("theme") && lab.horizon === null && !what.has("play")) return;
      draw(0);
      draw(1);
      const kind = lab.answer(1)?.kind ?? lab.answer(0)?.kind;
      const holder = lab.info.holder ?? "";
      say(cap, kind ? w.t(`share-${kind}`, { holder, window: w.has(`window-${lab.told}`) ? w.t(`window-${lab.told}`) : lab.told }) : "");
    },
    get moving() {
      return rows.some((r) => r.frame !== 0);
    },
    free() {
      for (const r of rows) cancelAnimationFrame(r.frame);
    },
  };
}

/** What a row is called. @param {import("./words.js").Words} w @param {number} row @param {string} pi */
export function rowName(w, row, pi) {
  if (row === 0) return w.t("row-stock");
  return w.t(w.has(`row-b-${pi}`) ? `row-b-${pi}` : "row-b");
}

/**
 * The weights on the holder's queue at an instant: what its share is made of.
 * @param {import("./lab.js").Lab} lab @param {number} row @param {number} at
 */
export function weightsOf(lab, row, at) {
  const holder = /** @type {import("./types.js").TaskInfo} */ (lab.holder);
  const roles = new Map(lab.info.tasks.map((t) => [t.name, t.role]));
  const boost = lab.marks[row].filter((m) => m.task === holder.name && (m.kind === "boost" || m.kind === "deboost") && m.at_ns <= at).at(-1);
  const prio = boost?.prio ?? 120 + holder.nice;
  const queue = lab.queue(row, at).entities.filter((e) => !e.delayed);
  const own = queue.find((e) => e.name === holder.name)?.weight ?? 0;
  const parts = queue
    .map((e) => ({ name: e.name, weight: e.weight, role: roles.get(e.name) ?? "other" }))
    .sort((a, b) => Number(b.role === "holder") - Number(a.role === "holder"));
  const sum = own ? queue.reduce((total, e) => total + e.weight, 0) : 0;
  // Under proxy execution the blocked waiter stays queued and its turns are the holder's too.
  const lent = lab.runs[row].pi === "proxy-exec" ? parts.filter((p) => p.role === "waiter").reduce((t, p) => t + p.weight, 0) : 0;
  return { own: own + lent, sum, parts, prio, real: prio < 100 };
}

/** @param {HTMLElement} node @param {ReturnType<typeof weightsOf>} weights */
function bar(node, weights) {
  if (weights.real || !weights.sum) return set(node);
  let parts = weights.parts;
  if (parts.length > MOST_SEGMENTS) {
    const rest = parts.slice(MOST_SEGMENTS - 1);
    parts = [...parts.slice(0, MOST_SEGMENTS - 1), { name: `+ ${rest.length}`, weight: rest.reduce((t, p) => t + p.weight, 0), role: "other" }];
  }
  while (node.children.length > parts.length) node.lastChild?.remove();
  while (node.children.length < parts.length) node.append(el("span", {}, el("i")));
  parts.forEach((part, i) => {
    const span = /** @type {HTMLElement} */ (node.children[i]);
    span.className = part.role;
    span.style.flexGrow = String(part.weight);
    say(/** @type {Element} */ (span.firstChild), part.weight / weights.sum > 0.18 ? `${part.name} ${part.weight}` : "");
  });
}
