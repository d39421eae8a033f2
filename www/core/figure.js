/**
 * The result without the model: question, table and bars, as shown before the model is up, when it cannot
 * come up, and in print. The numbers are the command line's, written here when the lab is built.
 */
import { el } from "./dom.js";

/* static-result: begin (cargo xtask build fills this from `reweight-lab compare patch-test --format json`) */
export const RESULT = {
  preset: "patch-test",
  kernel: "6.12",
  hz: 1000,
  holder: "low",
  rows: [
    { pi: "stock", share: 0.097, weight: 110, sum: 1134 },
    { pi: "reweight", share: 0.5, weight: 1024, sum: 2048 },
  ],
};
/* static-result: end */

/** @param {import("./words.js").Words} w @returns {HTMLElement} */
export function figure(w) {
  const { rows, holder } = RESULT;
  const name = (/** @type {string} */ pi) => (pi === "stock" ? w.t("row-stock") : w.t("row-b-reweight"));
  return el("section", { class: "figure", "aria-label": w.t("result") },
    el("p", { class: "b" }, w.rich("preset-patch-test-question", { holder, waiter: "high" })),
    el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, w.t("run")), el("th", { class: "num", scope: "col" }, w.t("weight-of", { task: holder })), el("th", { class: "num", scope: "col" }, w.t("share-of", { task: holder })))),
      el("tbody", {}, rows.map((r) => el("tr", {},
        el("th", { scope: "row" }, name(r.pi)),
        el("td", { class: "num" }, w.t("weights-of", { weight: r.weight, sum: r.sum })),
        el("td", { class: "num" }, w.percent(r.share, 2)))))),
    rows.map((r) => {
      const own = el("span", { class: "holder" }, r.share > 0.18 ? `${holder} ${r.weight}` : "");
      const rest = el("span", {}, `bg ${r.sum - r.weight}`);
      own.style.flexGrow = String(r.weight);
      rest.style.flexGrow = String(r.sum - r.weight);
      return el("div", { class: "wbar", "aria-hidden": "true" }, own, rest);
    }),
    el("p", { class: "cap" }, w.t("figure-note", { kernel: RESULT.kernel, hz: RESULT.hz })));
}
