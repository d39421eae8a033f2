/**
 * The painters' pictures as SVG: a stand-in for the canvas context that writes down what is drawn. It knows as much
 * of the context as the painters use; what it is asked beyond that fails loudly.
 */

/** @param {string} text */
export const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c)
  // What XML cannot hold at all.
  .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");

/** @param {number} n */
const num = (n) => String(Number(n.toFixed(2)));

const ANCHORS = /** @type {Record<string, string>} */ ({ left: "start", start: "start", center: "middle", right: "end", end: "end" });

/** Makes clip paths' names differ when several pictures lie in one page. */
let made = 0;

class SvgContext {
  constructor() {
    this.fillStyle = this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.lineCap = "butt";
    this.lineJoin = "miter";
    this.font = "10px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "middle";
    /** @type {number[]} */
    this.dash = [];
    this.dx = 0;
    this.dy = 0;
    this.path = "";
    /** @type {string[]} */
    this.out = [];
    /** @type {{ kept: object, open: number }[]} */
    this.stack = [];
    this.open = 0;
    this.id = `clip-${++made}`;
    this.clips = 0;
    // Text is as wide as a canvas finds it.
    this.ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  }

  setTransform() {}
  clearRect() {}

  save() {
    const { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, font, textAlign, textBaseline, dash, dx, dy } = this;
    this.stack.push({ kept: { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, font, textAlign, textBaseline, dash, dx, dy }, open: this.open });
    this.open = 0;
  }

  restore() {
    const last = this.stack.pop();
    if (!last) return;
    for (; this.open > 0; this.open--) this.out.push("</g>");
    Object.assign(this, last.kept);
    this.open = last.open;
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.dx += x;
    this.dy += y;
  }

  clip() {
    const id = `${this.id}-${++this.clips}`;
    this.out.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.open++;
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  // ---- paths ----------------------------------------------------------------------------------

  beginPath() {
    this.path = "";
  }

  /** @param {string} letter @param {number} x @param {number} y */
  point(letter, x, y) {
    this.path += `${letter}${num(x + this.dx)} ${num(y + this.dy)}`;
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.point("M", x, y);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.point("L", x, y);
  }

  closePath() {
    this.path += "Z";
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.point("M", x, y);
    this.path += `h${num(w)}v${num(h)}h${num(-w)}Z`;
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
  roundRect(x, y, w, h, r) {
    const q = Math.max(0, Math.min(r, w / 2, h / 2));
    const turn = (/** @type {number} */ a, /** @type {number} */ b) => `a${num(q)} ${num(q)} 0 0 1 ${num(a)} ${num(b)}`;
    this.point("M", x + q, y);
    this.path += `h${num(w - 2 * q)}${turn(q, q)}v${num(h - 2 * q)}${turn(-q, q)}h${num(2 * q - w)}${turn(-q, -q)}v${num(2 * q - h)}${turn(q, -q)}Z`;
  }

  /** @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to */
  arc(x, y, r, from, to) {
    const at = (/** @type {number} */ a) => /** @type {const} */ ([x + r * Math.cos(a), y + r * Math.sin(a)]);
    this.point(this.path === "" ? "M" : "L", ...at(from));
    const sweep = Math.abs(to - from) >= 2 * Math.PI ? 2 * Math.PI : (to - from + 4 * Math.PI) % (2 * Math.PI);
    // A whole circle in one arc would start where it ends, and be nothing.
    for (const part of [sweep / 2, sweep]) {
      this.path += `A${num(r)} ${num(r)} 0 0 1 `;
      this.point("", ...at(from + part));
    }
  }

  fill() {
    this.out.push(`<path d="${this.path}" fill="${escape(String(this.fillStyle))}"/>`);
  }

  stroke() {
    this.out.push(`<path d="${this.path}" fill="none" ${this.pen()}/>`);
  }

  pen() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(num).join(" ")}"` : "";
    const cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    return `stroke="${escape(String(this.strokeStyle))}" stroke-width="${num(this.lineWidth)}" stroke-linejoin="${this.lineJoin}"${cap}${dash}`;
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    this.out.push(`<rect x="${num(x + this.dx)}" y="${num(y + this.dy)}" width="${num(w)}" height="${num(h)}" fill="${escape(String(this.fillStyle))}"/>`);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    this.out.push(`<rect x="${num(x + this.dx)}" y="${num(y + this.dy)}" width="${num(w)}" height="${num(h)}" fill="none" ${this.pen()}/>`);
  }

  // ---- text -----------------------------------------------------------------------------------

  /** @param {string} text */
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    if (!text) return;
    const [, weight, size, family] = /^(\d+) ([\d.]+)px (.*)$/.exec(this.font) ?? ["", "400", "12", "sans-serif"];
    // Where a canvas sets the letters' foot; viewers do not agree on baselines other than that.
    this.ruler.font = this.font;
    this.ruler.textBaseline = /** @type {CanvasTextBaseline} */ (this.textBaseline);
    const foot = y + this.dy - this.ruler.measureText(text).alphabeticBaseline;
    this.out.push(`<text x="${num(x + this.dx)}" y="${num(foot)}" text-anchor="${ANCHORS[this.textAlign]}" font-family="${escape(family)}" font-size="${size}" font-weight="${weight}" fill="${escape(String(this.fillStyle))}">${escape(text)}</text>`);
  }
}

/**
 * Runs a painter on the stand-in and gives what it drew. @param {(canvas: HTMLCanvasElement) => { height: number }} paint
 * @param {{ width: number, title: string, ground: string }} of
 */
export function svgOf(paint, of) {
  const context = new SvgContext();
  const canvas = /** @type {HTMLCanvasElement} */ (/** @type {unknown} */ ({ width: 0, height: 0, getContext: () => context }));
  const height = Math.ceil(paint(canvas).height);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${of.width}" height="${height}" viewBox="0 0 ${of.width} ${height}" role="img"><title>${escape(of.title)}</title><rect width="${of.width}" height="${height}" fill="${escape(of.ground)}"/>${context.out.join("\n")}</svg>\n`;
}
