/** The release, closer: the runs are never aligned on their unlocks, since that they differ is the point. */
import { el, say } from "./dom.js";
import { paintTimeline } from "./paint-timeline.js";
import { onWidth, section } from "./section.js";

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function release(lab, ctx) {
  const { words: w } = ctx;
  const canvas = el("canvas", { role: "img" });
  const box = el("div", { class: "stage" }, canvas);
  const lead = el("p", { class: "lead" });
  const node = section("release", w.t("release-title"), [el("span", { class: "muted small" }, w.t("release-zero"))], lead, el("div", { class: "card pad" }, box));
  let height = 0;
  const size = onWidth(box, paint);

  function times() {
    const known = /** @type {number[]} */ (lab.releases.filter((t) => t !== null));
    return known.length ? { first: Math.min(...known), last: Math.max(...known) } : null;
  }

  function paint() {
    const t = times();
    if (!lab.session || !t || size.width < 1 || lab.cover) return;
    const tick = 1e9 / lab.info.hz;
    const least = Math.max(t.last - t.first, 10 * tick);
    const view = {
      ...ctx.paintBase(size.width, height),
      from_ns: t.first - 0.7 * least,
      to_ns: t.last + 1.6 * least,
      origin_ns: t.first,
      cursor_ns: lab.time,
      hover_ns: null,
      select: null,
      played_ns: lab.horizon,
      rows: [0, 1],
      ruler: true,
    };
    const painted = paintTimeline(lab, canvas, view);
    const need = Math.ceil(painted.height);
    if (need !== height) {
      height = need;
      box.style.height = `${need}px`;
      paintTimeline(lab, canvas, { ...view, height });
    }
  }

  /** When a task takes its lock after `at`, ns later. @param {number} row @param {string} task @param {number} at */
  function firstRun(row, task, at) {
    // Taking the lock takes no time, so the stint may be of no length: its mark tells of it all the same.
    const taken = lab.marks[row].find((m) => m.kind === "lock" && m.task === task && m.at_ns >= at);
    return taken ? taken.at_ns - at : null;
  }

  function tell() {
    const t = times();
    const { holder, waiter } = lab;
    if (!t || !holder || !waiter) return;
    const [a, b] = lab.releases;
    const values = { task: holder.name, waiter: waiter.name, variant: w.t(`short-${lab.info.pi}`) };
    if (a === null || b === null) return say(lead, w.t("release-one", { ...values, run: w.t(a === null ? `short-${lab.info.pi}` : "short-stock") }));
    const late = a - b;
    const runs = [firstRun(0, waiter.name, a), firstRun(1, waiter.name, b)].map((x) => (x === null ? "–" : w.time(x)));
    const all = { ...values, late: w.time(Math.abs(late)), run_a: runs[0], run_b: runs[1] };
    say(lead, w.t(late === 0 ? "release-same" : late > 0 ? "release-later" : "release-sooner", all));
    canvas.setAttribute("aria-label", lead.textContent ?? "");
  }

  return {
    node,
    update(what) {
      node.hidden = times() === null || (lab.horizon !== null && lab.horizon < (times()?.first ?? 0));
      if (node.hidden) return;
      if (what.has("session")) tell();
      if (what.has("session") || what.has("theme") || what.has("time") || what.has("cover") || what.has("play")) paint();
    },
    free: () => size.free(),
  };
}
