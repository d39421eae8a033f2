/**
 * Every file the lab fetches, in one table: a build that carries its files inside replaces this module and no other.
 * The addresses are written out whole, so that bundlers see them.
 */

/** @type {Record<string, () => URL>} */
const FILES = {
  "tokens.css": () => new URL("./tokens.css", import.meta.url),
  "lab.css": () => new URL("./lab.css", import.meta.url),
  "below.css": () => new URL("./below.css", import.meta.url),
  "en.json": () => new URL("../locales/en.json", import.meta.url),
  "de.json": () => new URL("../locales/de.json", import.meta.url),
  "en.sheet.json": () => new URL("../locales/en.sheet.json", import.meta.url),
  "de.sheet.json": () => new URL("../locales/de.sheet.json", import.meta.url),
  "recorded.json": () => new URL("./recorded.json", import.meta.url),
};

/** A file that is not there, or not to be had. `url` says which; `status` is HTTP's, 0 when there was no answer. */
export class MissingFile extends Error {
  /** @param {string} url @param {number} status */
  constructor(url, status) {
    super(`${url}: ${status || "no answer"}`);
    this.url = url;
    this.status = status;
  }
}

/** @param {URL} url @returns {Promise<Response>} */
async function get(url) {
  let response;
  try {
    response = await fetch(url);
  } catch {
    throw new MissingFile(url.href, 0);
  }
  if (!response.ok) throw new MissingFile(url.href, response.status);
  return response;
}

/** @type {Map<string, Promise<string>>} */
const texts = new Map();

/** The text of one of the files above, fetched once. @param {string} name @returns {Promise<string>} */
export function text(name) {
  let known = texts.get(name);
  if (!known) {
    known = get(FILES[name]()).then((r) => r.text());
    texts.set(name, known);
    known.catch(() => texts.delete(name));
  }
  return known;
}

/** The WebAssembly file. @returns {Promise<Response>} */
export function wasm() {
  return get(new URL("../reweight_lab_bg.wasm", import.meta.url));
}

/** Its glue. @returns {Promise<import("./types.js").Wasm>} */
export function glue() {
  return import("../reweight_lab.js");
}

/** Asks for the glue as a plain file, to say why importing it failed. @returns {Promise<Response>} */
export function glueFile() {
  return get(new URL("../reweight_lab.js", import.meta.url));
}

/** The second module, which writes runs in other tools' formats; started. @returns {Promise<import("./types.js").Exporter>} */
export async function exporter() {
  const [module, file] = await Promise.all([import("../reweight_lab_export.js"), get(new URL("../reweight_lab_export_bg.wasm", import.meta.url))]);
  await module.default({ module_or_path: await file.arrayBuffer() });
  return module;
}

/** The lab page, for "open in the lab". @returns {string} */
export function page() {
  return new URL("../index.html", import.meta.url).href;
}

/** Sheets to print, a page beside the lab; empty where there is none. @returns {string} */
export function sheetPage() {
  return new URL("../sheet.html", import.meta.url).href;
}
