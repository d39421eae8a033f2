/** What became of the patch: what is measured, what is modelled, what is opinion, each with its source. */
import { el } from "./dom.js";
import { section } from "./section.js";

/** The thread's public archive, by message id. */
const THREAD = "https://lore.kernel.org/lkml/20240403005930.1587032-1-qyousef@layalina.io/";

/** @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function story(ctx) {
  const { words: w } = ctx;
  const link = (/** @type {string} */ label) => el("a", { href: THREAD, target: "_blank", rel: "noopener noreferrer" }, label);
  const node = section("patch", w.t("story-title"), [],
    el("div", { class: "note pad" }, el("p", {}, w.rich("story-opinion", { thread: link(w.t("story-thread")) })), el("p", {}, w.rich("story-measured"))),
    el("p", { class: "small muted lead" }, w.rich("story-limits")));
  node.classList.add("story");
  return { node, update() {} };
}
