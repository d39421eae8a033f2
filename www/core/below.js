/** The sections further down, in the order of the story; fetched when the reader comes near. */
import { el } from "./dom.js";
import { dialog } from "./dialogs.js";
import { queue } from "./queue.js";
import { range } from "./range.js";
import { release } from "./release.js";
import { recorded, shareOverTime } from "./share.js";
import { story } from "./story.js";
import { tour } from "./tour.js";
import { why } from "./why.js";

export { dialog };

/** @type {WeakMap<import("./view.js").View, ReturnType<typeof tour>>} */
const tours = new WeakMap();

/** @param {import("./view.js").View} view @returns {import("./types.js").Part[]} */
export function below(view) {
  const { lab, ctx } = view;
  const pair = [shareOverTime(lab, ctx), recorded(lab, ctx)];
  const guide = tour(lab, ctx, view);
  tours.set(view, guide);
  return [
    { node: el("div", { class: "two" }, pair.map((p) => p.node)), update: (what) => pair.forEach((p) => p.update(what)), free: () => pair.forEach((p) => p.free?.()) },
    range(lab, ctx),
    queue(lab, ctx),
    why(lab, ctx),
    release(lab, ctx),
    guide,
    story(ctx),
  ];
}

/** @param {import("./view.js").View} view @param {number} [step] */
export function startTour(view, step = 0) {
  tours.get(view)?.go(step);
}
