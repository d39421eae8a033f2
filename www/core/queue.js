/** Inside the run queue at the cursor, one panel a row: the virtual axis, the table of what `top` would print, and who is picked. */
import { rowName } from "./answers.js";
import { Calm } from "./calm.js";
import { el, say, set, taskName } from "./dom.js";
import { paintQueue } from "./paint-charts.js";
import { grid, onWidth, section } from "./section.js";
import { whySentence } from "./why.js";

const HEIGHT = 176;

/** The cursor has come to rest after so long, ms. */
const REST = 400;

/** @typedef {{ row: number, canvas: HTMLCanvasElement, box: HTMLElement, name: Element, scale: Element, table: Element, verdict: Element, node: Element, span: [number, number] | null, size: { width: number, free(): void } }} Panel */

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function queue(lab, ctx) {
  const { words: w } = ctx;
  const lead = el("p", { class: "lead" });
  /** @type {Panel[]} */
  const panels = [0, 1].map((row) => {
    const canvas = el("canvas", { role: "img" });
    const box = el("div", { class: "qchart" }, canvas);
    const name = el("span");
    const scale = el("span", { class: "muted" });
    const table = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": w.t("queue-table") });
    const verdict = el("p", { class: "verdict" });
    const node = el("div", { class: "card pad" }, el("h3", {}, name, scale), box, table, verdict);
    return { row, canvas, box, name, scale, table, verdict, node, span: null, size: { width: 0, free() {} } };
  });
  for (const p of panels) p.size = onWidth(p.box, () => paint(p));
  const node = section("queue", w.t("queue-title"), [el("span", { class: "muted small" })], lead, el("div", { class: "half" }, panels.map((p) => p.node)));
  const at = /** @type {Element} */ (node.querySelector(".sec-h > span"));
  const rest = new Calm(REST, () => draw(false));

  /** @param {Panel} p @param {boolean} [freeze] */
  function paint(p, freeze = false) {
    if (!lab.session || p.size.width < 1) return;
    p.span = paintQueue(lab, p.canvas, p.row, lab.time, { ...ctx.paintBase(p.size.width, HEIGHT), span: freeze ? p.span : null }).span;
  }

  /** @param {boolean} freeze */
  function draw(freeze) {
    if (!lab.session) return;
    const roles = new Map(lab.info.tasks.map((t) => [t.name, t]));
    const sign = (/** @type {number} */ ns) => w.fixed(ns / 1e6, 3, true);
    let kind = "eevdf";
    for (const p of panels) {
      const q = lab.queue(p.row, lab.time);
      kind = q.kind;
      say(p.name, rowName(w, p.row, lab.info.pi));
      paint(p, freeze);
      const eevdf = q.kind === "eevdf";
      set(p.table, q.entities.length === 0 ? el("p", { class: "muted small" }, w.t("queue-empty")) : grid({
        head: [w.t("task"), w.t("col-weight"), "PR", "NI", w.t(eevdf ? "col-lag" : "col-ahead"), eevdf ? w.t("col-deadline") : null, w.t(eevdf ? "col-eligible" : "col-leftmost")].filter((x) => x !== null),
        num: eevdf ? [1, 2, 3, 4, 5] : [1, 2, 3, 4],
        rows: q.entities.map((e) => {
          const task = roles.get(e.name) ?? { name: e.name, role: "other" };
          const mark = el("span", { class: e.eligible ? "yes" : "no" }, w.t(e.eligible ? "yes" : "no"), e.delayed ? ` (${w.t("delayed")})` : "", e.protected ? ` (${w.t("protected")})` : "");
          return [taskName(task), e.weight, e.pr, e.ni, sign(eevdf ? e.lag : -e.lag), ...(eevdf ? [sign(e.deadline - q.v)] : []), mark];
        }),
      }));
      p.canvas.setAttribute("aria-label", w.t("queue-says", { all: q.entities.map((e) => w.t("queue-says-one", { task: e.name, lag: sign(e.lag), deadline: sign(e.deadline - q.v) })).join("; ") || w.t("queue-empty") }));
      set(p.verdict, whySentence(lab, w, lab.why(p.row, lab.time)));
    }
    const [a, b] = panels.map((p) => (p.span ? p.span[1] - p.span[0] : 0));
    const ratio = a && b ? a / b : 1;
    say(panels[0].scale, "");
    say(panels[1].scale, ratio > 1.5 ? ` · ${w.t("scale-wider", { n: w.short(ratio, ratio < 10 ? 1 : 0) })}` : ratio < 1 / 1.5 ? ` · ${w.t("scale-narrower", { n: w.short(1 / ratio, 1 / ratio < 10 ? 1 : 0) })}` : "");
    say(at, w.t("at-clock", { time: ctx.clock(lab.time) }));
    const blocked = lab.waiter?.name ?? "";
    set(lead, w.t(kind === "cfs" ? "queue-lead-cfs" : "queue-lead-eevdf", { waiter: blocked }));
  }

  return {
    node,
    update(what) {
      if (!["session", "time", "theme"].some((t) => what.has(/** @type {never} */ (t)))) return;
      // While the cursor moves the axes stand still; at rest they fit again.
      const moving = what.has("time") && !what.has("session");
      draw(moving);
      rest.cancel();
      if (moving && !lab.playing) rest.wait();
    },
    hurry: () => rest.hurry(),
    free() {
      rest.cancel();
      for (const p of panels) p.size.free();
    },
  };
}
