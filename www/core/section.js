/** What sections further down share: a heading with tools, and a picture that can be read as a table instead. */
import { el, set } from "./dom.js";

/**
 * A section with a heading. @param {string} id @param {string} title @param {unknown[]} tools @param {...unknown} rest
 */
export function section(id, title, tools, ...rest) {
  return el("section", { class: `sec ${id}-sec`, "aria-labelledby": `h-${id}`, id }, el("div", { class: "sec-h" }, el("h2", { id: `h-${id}` }, title), tools), rest);
}

/**
 * A picture and its table: one is shown, a button changes places.
 * @param {import("./words.js").Words} w @param {HTMLElement} picture @param {() => unknown} table makes the table anew
 */
export function pictureOrTable(w, picture, table) {
  const holder = el("div", { class: "scroll", hidden: true, tabindex: "0", role: "group", "aria-label": w.t("table") });
  const button = el("button", { class: "btn plain", type: "button", "aria-pressed": "false", onclick: () => {
    const show = holder.hidden;
    holder.hidden = !show;
    picture.hidden = show;
    button.setAttribute("aria-pressed", String(show));
    if (show) set(holder, table());
  } }, w.t("table"));
  return {
    button,
    holder,
    update: () => {
      if (!holder.hidden) set(holder, table());
    },
  };
}

/** @param {{ head: unknown[], num?: number[], rows: unknown[][], caption?: unknown, className?: string }} t */
export function grid(t) {
  const cls = (/** @type {number} */ i) => (t.num?.includes(i) ? "num" : null);
  return el("table", { class: t.className },
    t.caption !== undefined && el("caption", { class: "small muted" }, t.caption),
    el("thead", {}, el("tr", {}, t.head.map((h, i) => el("th", { scope: "col", class: cls(i) }, h)))),
    el("tbody", {}, t.rows.map((r) => el("tr", {}, r.map((c, i) => (i === 0 ? el("th", { scope: "row" }, c) : el("td", { class: cls(i) }, c)))))));
}

/** Observes the width of a picture and paints when it has one. @param {HTMLElement} box @param {() => void} paint */
export function onWidth(box, paint) {
  let width = 0;
  const sizes = new ResizeObserver(([e]) => {
    if (Math.abs(e.contentRect.width - width) < 0.5) return;
    width = e.contentRect.width;
    if (width > 0) paint();
  });
  sizes.observe(box);
  return { get width() { return width; }, free: () => sizes.disconnect() };
}
