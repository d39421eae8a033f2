/** The sections further down, in the order of the story; fetched when the reader comes near. */
import { el } from "./dom.js";
import { queue } from "./queue.js";
import { range } from "./range.js";
import { release } from "./release.js";
import { recorded, shareOverTime } from "./share.js";
import { story } from "./story.js";
import { tour } from "./tour.js";
import { why } from "./why.js";

/** @type {WeakMap<import("./view.js").View, ReturnType<typeof tour>>} */
const tours = new WeakMap();

/** @param {import("./view.js").View} view @returns {import("./types.js").Part[]} */
export function below(view) {
  const { lab, ctx } = view;
  const pair = [shareOverTime(lab, ctx), recorded(lab, ctx)];
  const guide = tour(lab, ctx, view);
  tours.set(view, guide);
  return [
    whenSeen({ node: el("div", { class: "two" }, pair.map((p) => p.node)), update: (what) => pair.forEach((p) => p.update(what)), free: () => pair.forEach((p) => p.free?.()) }),
    ...[range(lab, ctx), queue(lab, ctx), why(lab, ctx), release(lab, ctx)].map(whenSeen),
    guide,
    story(ctx),
  ];
}

/** A part that is out of sight costs nothing: what it was told waits until it is seen. @param {import("./types.js").Part} part @returns {import("./types.js").Part} */
function whenSeen(part) {
  let seen = false;
  let first = true;
  /** @type {Set<import("./types.js").Topic>} */
  const waiting = new Set();
  const sight = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    if (!seen || waiting.size === 0) return;
    part.update(new Set(waiting));
    waiting.clear();
  }, { rootMargin: "150px" });
  sight.observe(part.node);
  return {
    node: part.node,
    update(what) {
      // The first time at once: a part may hide itself, and what is hidden is never seen.
      if (seen || first || what.has("cover")) {
        first = false;
        return part.update(what);
      }
      for (const topic of what) waiting.add(topic);
      // Whether it is there at all is told at once.
      if (what.has("session")) /** @type {HTMLElement} */ (part.node).hidden = false;
    },
    hurry: () => part.hurry?.() ?? false,
    free() {
      sight.disconnect();
      part.free?.();
    },
  };
}

/** @param {import("./view.js").View} view @param {number} [step] */
export function startTour(view, step = 0) {
  tours.get(view)?.go(step);
}
