/** Elements from data. Text goes in as text nodes only; nothing here reads markup. */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Props */

/** @param {Element} node @param {Props} props @param {unknown[]} children */
function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
}

/** @param {Element} node @param {unknown[]} children */
export function append(node, children) {
  for (const child of /** @type {Child[]} */ (children.flat(Infinity))) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/**
 * An HTML element. A property that starts with `on` is a listener, every other one an attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Props} [props] @param {...unknown} children @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, props, children);
  return node;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag @param {Props} [props] @param {...unknown} children @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  fill(node, props, children);
  return node;
}

/** Replaces what a node holds. @param {Element} node @param {...unknown} children */
export function set(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** Sets text only when it differs, so that a live region stays calm. @param {Element} node @param {string} value */
export function say(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

const PATHS = {
  start: "M1 2h2v12H1zM9 2v12L3.5 8zM15.5 2v12L10 8z",
  play: "M3 1.5v13L14 8z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  step: "M2 2v12l8-6zM11 2h2v12h-2z",
  reset: "M8 2a6 6 0 1 1-5.6 3.9l1.9.7A4 4 0 1 0 8 4v2.6L3.8 3.3 8 0z",
  back: "M14 2v12L6 8zM3 2h2v12H3z",
  redo: "M10 2 15 6.5 10 11V8H6.5a2.5 2.5 0 0 0 0 5H10v2H6.5a4.5 4.5 0 0 1 0-9H10z",
  undo: "M6 2 1 6.5 6 11V8h3.5a2.5 2.5 0 0 1 0 5H6v2h3.5a4.5 4.5 0 0 0 0-9H6z",
};

/** @param {keyof typeof PATHS} name @returns {SVGSVGElement} */
export function icon(name) {
  return svg("svg", { class: `ico ico-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}

/** The mark of a role: circle, diamond, square. @param {string} role */
export function key(role) {
  return el("span", { class: `key ${role}`, "aria-hidden": "true" });
}

/** A task's name with its mark and hue. @param {{ name: string, role: string }} task @param {boolean} [mark] */
export function taskName(task, mark = true) {
  return el("span", { class: "tn" }, mark && key(task.role), el("bdi", { class: `b c-${task.role}` }, task.name));
}
