/** The selected range in numbers, in the terms of `perf sched timehist`: run, wait, blocked, switches, longest wait. */
import { rowName } from "./answers.js";
import { el, say, set, taskName } from "./dom.js";
import { fraction } from "./share.js";

let made = 0;

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function range(lab, ctx) {
  const { words: w } = ctx;
  // It also stands in the table dialog: names must not clash.
  const id = `h-range-${++made}`;
  const title = el("h3", { id });
  const table = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": id });
  const text = el("div");
  const node = el("section", { class: "card pad range", "aria-labelledby": id }, el("div", {}, title, table), text);

  function draw() {
    const s = lab.session;
    if (!s) return;
    const selected = lab.select;
    const [from, to] = selected ?? [Math.max(0, lab.view.from), Math.min(lab.duration, lab.view.to)];
    const stop = lab.horizon === null ? to : Math.min(to, lab.horizon);
    if (stop <= from) {
      say(title, w.t("range-empty"));
      set(table);
      set(text);
      return;
    }
    const boosted = lab.boosts[0] !== null || lab.boosts[1] !== null;
    const rel = (/** @type {number} */ t) => (boosted ? w.t("relative", { time: w.time(t - lab.origin, true) }) : w.time(t));
    say(title, w.t(selected ? "range-selected" : "range-view", { from: rel(from), to: rel(stop) }));
    const ranges = [0, 1].map((row) => s.range(row, from, stop));
    const rows = ranges.flatMap((r, row) => lab.tasks.filter((t) => r.tasks[t.name]).map((task, i) => {
      const x = r.tasks[task.name];
      const cells = [x.run_ns, x.wait_ns, x.blocked_ns].map((ns) => w.ms(ns));
      return el("tr", {}, el(i ? "td" : "th", i ? {} : { scope: "row" }, i ? el("span", { class: "sr" }, rowName(w, row, lab.info.pi)) : rowName(w, row, lab.info.pi)), el("td", {}, taskName(task)),
        el("td", { class: "num" }, cells[0]), el("td", { class: "num" }, w.percent(x.share)), el("td", { class: "num" }, cells[1]), el("td", { class: "num" }, cells[2]), el("td", { class: "num" }, w.int(x.switches)), el("td", { class: "num" }, w.ms(x.max_wait_ns)));
    }));
    set(table, el("table", {}, el("thead", {}, el("tr", {},
      el("th", { scope: "col" }, w.t("run")), el("th", { scope: "col" }, w.t("task")),
      ["col-run", "col-share", "col-wait", "col-blocked", "col-switches", "col-longest"].map((k) => el("th", { class: "num", scope: "col" }, w.t(k))))), el("tbody", {}, rows)));
    set(text, sentences(from, stop, ranges));
  }

  /** @param {number} from @param {number} to @param {import("./types.js").Range[]} ranges */
  function sentences(from, to, ranges) {
    const holder = lab.holder;
    if (!holder) return [];
    /** @type {Node[]} */
    const out = [];
    const mid = (from + to) / 2;
    const f = [fraction(lab, 0, mid), fraction(lab, 1, mid)];
    const share = ranges.map((r) => r.tasks[holder.name]?.share ?? 0);
    if (f[0] && f[1]) out.push(el("p", {}, w.t("range-closed-form", { task: holder.name, a: w.percent(share[0]), b: w.percent(share[1]), wa: f[0].own, sa: f[0].sum, wb: f[1].own, sb: f[1].sum, pa: w.percent(f[0].own / f[0].sum), pb: w.percent(f[1].own / f[1].sum) })));
    const stale = lab.info.kernel === "6.12" || lab.info.kernel === "6.6";
    if (stale && lab.info.pi !== "stock" && lab.boosts[1] !== null && from <= lab.boosts[1] && to > lab.boosts[1]) out.push(el("p", {}, w.t("range-stale", { task: holder.name, kernel: lab.info.kernel })));
    if (!lab.select) out.push(el("p", {}, w.t("range-help")));
    return out;
  }

  return {
    node,
    update(what) {
      if (what.has("session") || what.has("select") || (what.has("view") && !lab.select) || (what.has("time") && lab.horizon !== null)) draw();
    },
  };
}
