/** What the painters share: a canvas in CSS pixels, templates, ticks, and the marks of tasks. */

/**
 * @typedef {object} Brush
 * @property {CanvasRenderingContext2D} g
 * @property {Record<string, string>} c colours
 * @property {number} s scale
 * @property {number} w width @property {number} h height, CSS px
 * @property {(size?: number, weight?: number) => void} font
 * @property {(n: number, digits: number, signed?: boolean) => string} num
 */

/** @param {HTMLCanvasElement} canvas @param {any} view @returns {Brush} */
export function brush(canvas, view) {
  const { width, height, dpr, colors: c, scale: s = 1 } = view;
  const pixels = [Math.max(1, Math.round(width * dpr)), Math.max(1, Math.round(height * dpr))];
  if (canvas.width !== pixels[0]) canvas.width = pixels[0];
  if (canvas.height !== pixels[1]) canvas.height = pixels[1];
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  g.clearRect(0, 0, width, height);
  g.textBaseline = "middle";
  // The words' direction, not the page's: every language there is a file for is written from left to right.
  g.direction = "ltr";
  g.lineJoin = "round";
  return {
    g, c, s, w: width, h: height,
    font: (size = 12, weight = 400) => {
      g.font = `${weight} ${size * s}px ${view.font}`;
    },
    num: (n, digits, signed = false) => {
      const text = Math.abs(n).toFixed(digits).replace(".", view.decimal);
      const zero = Number(n.toFixed(digits)) === 0;
      return (zero ? "" : n < 0 ? "−" : signed ? "+" : "") + text;
    },
  };
}

/** Fills `{holes}`. @param {string} text @param {Record<string, unknown>} values */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (hole, name) => (name in values ? String(values[name]) : hole));

/** A step of 1, 2 or 5 times a power of ten, so that at most `most` fit. @param {number} span @param {number} most */
export function step(span, most) {
  const ten = 10 ** Math.floor(Math.log10(span / most));
  return ten * ([1, 2, 5, 10].find((m) => span / (ten * m) <= most) ?? 10);
}

/** Digits after the point a step needs. @param {number} n */
export const digits = (n) => Math.max(0, -Math.floor(Math.log10(n) + 1e-9));

/** @type {Record<string, { hue: string, wash: string, on: string }>} */
export const HUES = {
  holder: { hue: "low", wash: "lowWash", on: "onLow" },
  waiter: { hue: "high", wash: "highWash", on: "onHigh" },
  other: { hue: "bg", wash: "bgWash", on: "onBg" },
};

/** A role's mark: circle, diamond, square. `r` is half its width. @param {CanvasRenderingContext2D} g @param {string} role @param {number} x @param {number} y @param {number} r */
export function shape(g, role, x, y, r) {
  g.beginPath();
  if (role === "holder") g.arc(x, y, r, 0, 7);
  else if (role === "waiter") {
    g.moveTo(x, y - r * 1.2);
    g.lineTo(x + r * 1.2, y);
    g.lineTo(x, y + r * 1.2);
    g.lineTo(x - r * 1.2, y);
    g.closePath();
  } else g.rect(x - r, y - r, 2 * r, 2 * r);
  g.fill();
}

/** A line. @param {CanvasRenderingContext2D} g @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
export function line(g, x1, y1, x2, y2) {
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
}
