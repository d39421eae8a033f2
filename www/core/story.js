/** What became of the patch: what is measured, what is modelled, what is opinion, each with its source. */
import { el } from "./dom.js";
import { section } from "./section.js";
import { sources } from "./sources.js";

/** @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function story(ctx) {
  const { words: w } = ctx;
  const links = sources(w);
  const node = section("patch", w.t("story-title"), [],
    el("div", { class: "note pad" }, ["story-opinion", "story-measured"].map((key) => el("p", {}, w.rich(key, links)))),
    el("p", { class: "small muted lead" }, w.rich("story-limits", links)));
  node.classList.add("story");
  return { node, update() {} };
}
