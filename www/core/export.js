/** What can be taken away: pictures, numbers and traces, made when asked for. */
import { exporter } from "./assets.js";
import { paintTimeline } from "./paint-timeline.js";
import { svgOf } from "./svg.js";

/** Kinds, with the ending and type of their files. `row` ones tell of one run. @type {Record<string, { ending: string, type: string, row?: boolean }>} */
export const KINDS = {
  png: { ending: "png", type: "image/png" },
  svg: { ending: "svg", type: "image/svg+xml" },
  csv: { ending: "csv", type: "text/csv" },
  workload: { ending: "json", type: "application/json" },
  ftrace: { ending: "ftrace.txt", type: "text/plain", row: true },
  chrome: { ending: "chrome.json", type: "application/json", row: true },
  timehist: { ending: "timehist.txt", type: "text/plain", row: true },
};

/**
 * Makes one. @param {import("./view.js").View} view @param {string} kind @param {0 | 1} row whose run, where it is one's
 * @returns {Promise<Blob>}
 */
export async function make(view, kind, row) {
  const { lab } = view;
  const { type } = KINDS[kind];
  if (kind === "png") return view.picture();
  if (kind === "svg") return new Blob([timelineSvg(view)], { type });
  const workload = /** @type {import("./types.js").Session} */ (lab.session).workload();
  if (kind === "workload") return new Blob([workload], { type });
  const variants = ["stock", lab.info.pi];
  const module = await exporter();
  return new Blob([module.write_run(workload, lab.workload, kind === "csv" ? variants.join() : variants[row], kind)], { type });
}

/** The timeline as it is seen, in the colours it has. @param {import("./view.js").View} view */
export function timelineSvg(view) {
  const { lab, ctx } = view;
  const { width } = /** @type {HTMLElement} */ (view.timeline?.stage).getBoundingClientRect();
  const base = /** @type {any} */ (ctx.paintBase(width, 0));
  const paint = (/** @type {HTMLCanvasElement} */ canvas) => paintTimeline(lab, canvas, {
    ...base, dpr: 1, from_ns: lab.view.from, to_ns: lab.view.to, origin_ns: lab.origin, cursor_ns: lab.time, hover_ns: null,
    select: lab.select, played_ns: lab.horizon, rows: [0, 1], ruler: true,
  });
  return svgOf(paint, { width, title: `${lab.info.title || lab.workload} (Linux ${lab.info.kernel}, HZ ${lab.info.hz})`, ground: base.colors.surface });
}
