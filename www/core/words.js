/**
 * Words and numbers in the reader's language. A locale is a flat file of whole sentences with named holes;
 * a key with the suffix `-one` is taken when `count` is 1.
 */
import { text } from "./assets.js";

/** Languages there are files for. */
export const LANGUAGES = ["en", "de"];

/** The language of a node, as the page says it. @param {Element} node */
export function languageOf(node) {
  /** @type {Node | null} */
  let at = node;
  while (at) {
    if (at instanceof Element && at.hasAttribute("lang")) return pick(at.getAttribute("lang") ?? "");
    at = at instanceof ShadowRoot ? at.host : at.parentNode;
  }
  return "en";
}

/** @param {string} tag */
function pick(tag) {
  const primary = tag.toLowerCase().split("-")[0];
  return LANGUAGES.includes(primary) ? primary : "en";
}

export class Words {
  /** @param {string} lang @param {Record<string, string>} table */
  constructor(lang, table) {
    this.lang = lang;
    this.table = table;
    /** @type {Map<string, Intl.NumberFormat>} */
    this.formats = new Map();
    /** Decimal separator, for the painter. */
    this.decimal = this.fixed(0.5, 1).replace(/\d/g, "");
  }

  /** @param {string} key */
  has(key) {
    return Object.hasOwn(this.table, key);
  }

  /** @param {string} key @param {Record<string, unknown>} [values] @returns {string} */
  sentence(key, values = {}) {
    if (values.count === 1 && this.has(`${key}-one`)) key = `${key}-one`;
    return this.has(key) ? this.table[key] : key;
  }

  /** A sentence with its holes filled. @param {string} key @param {Record<string, unknown>} [values] */
  t(key, values = {}) {
    return this.sentence(key, values).replace(/\{(\w+)\}/g, (hole, name) => (name in values ? String(values[name]) : hole));
  }

  /**
   * The same with nodes in the holes; `*...*` in the sentence is bold, `` `...` `` is code.
   * @param {string} key @param {Record<string, unknown>} [values] @returns {(Node | string)[]}
   */
  rich(key, values = {}) {
    return this.sentence(key, values)
      .split(/(\*[^*]+\*|`[^`]+`)/)
      .map((piece) => {
        if (/^[*`]/.test(piece)) {
          const node = document.createElement(piece[0] === "*" ? "b" : "code");
          node.append(...this.holes(piece.slice(1, -1), values));
          return [node];
        }
        return this.holes(piece, values);
      })
      .flat();
  }

  /** @param {string} piece @param {Record<string, unknown>} values @returns {(Node | string)[]} */
  holes(piece, values) {
    return piece.split(/(\{\w+\})/).map((part) => {
      const name = /^\{\w+\}$/.test(part) ? part.slice(1, -1) : "";
      if (!name || !(name in values)) return part;
      const value = values[name];
      // The same node may stand in two places of a sentence.
      return value instanceof Node ? value.cloneNode(true) : String(value);
    });
  }

  /** @param {number} value @param {number} digits @param {boolean} [signed] */
  fixed(value, digits, signed = false) {
    const id = `${digits}${signed}`;
    let format = this.formats.get(id);
    if (!format) {
      format = new Intl.NumberFormat(this.lang, {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        useGrouping: false,
        signDisplay: signed ? "exceptZero" : "negative",
      });
      this.formats.set(id, format);
    }
    return format.format(value).replace("-", "−");
  }

  /** Fewest digits up to `digits`. @param {number} value @param {number} digits @param {boolean} [signed] */
  short(value, digits, signed = false) {
    let n = 0;
    while (n < digits && Math.abs(value - Number(value.toFixed(n))) > 1e-9) n++;
    return this.fixed(value, n, signed);
  }

  /** 0.097 -> "9.7". @param {number} share @param {number} [digits] */
  percent(share, digits = 1) {
    return this.fixed(share * 100, digits);
  }

  /** A whole number as it is written, without grouping. @param {number} n */
  int(n) {
    return this.fixed(n, 0);
  }

  /** A length of time in the unit that suits it. @param {number} ns @param {boolean} [signed] */
  time(ns, signed = false) {
    const size = Math.abs(ns);
    if (size < 1e5 && size !== 0) return this.t("unit-us", { n: this.short(ns / 1e3, 3, signed) });
    if (size < 1e9) return this.t("unit-ms", { n: this.short(ns / 1e6, 2, signed) });
    return this.t("unit-s", { n: this.short(ns / 1e9, 3, signed) });
  }

  /** Milliseconds for a table. @param {number} ns @param {number} [digits] */
  ms(ns, digits = 2) {
    return this.fixed(ns / 1e6, digits);
  }
}

/** @type {Map<string, Promise<Words>>} */
const known = new Map();

/** @param {string} lang @returns {Promise<Words>} */
export function words(lang) {
  let made = known.get(lang);
  if (!made) {
    made = text(`${lang}.json`).then((json) => new Words(lang, JSON.parse(json)));
    known.set(lang, made);
    made.catch(() => known.delete(lang));
  }
  return made;
}
