/**
 * Bringing the model up. Each way it can fail is found by asking for a fact beforehand
 * (protocol, status, type, what the browser has), never by reading a browser's prose afterwards.
 */
import { glue, glueFile, MissingFile, wasm } from "./assets.js";

/** Why the lab could not start. `cause` is the end of a message id, `fail-<cause>`; `values` fill its holes. */
export class CannotStart extends Error {
  /** @param {string} cause @param {Record<string, string | number>} [values] */
  constructor(cause, values = {}) {
    super(cause);
    this.name = "CannotStart";
    this.cause = cause;
    this.values = values;
  }
}

/** The smallest valid module: eight bytes, magic and version. */
const EMPTY = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Asks what can be known without fetching. */
export function checkBrowser() {
  if (typeof WebAssembly !== "object") throw new CannotStart("no-wasm");
  if (!("adoptedStyleSheets" in Document.prototype) || !CSS.supports("color", "light-dark(#000, #fff)")) {
    throw new CannotStart("old-browser");
  }
  try {
    new WebAssembly.Module(EMPTY);
  } catch {
    // A valid module refused: only a policy does that.
    throw new CannotStart("csp");
  }
}

/** Why a file could not be had. @param {unknown} e @returns {CannotStart} */
export function missing(e) {
  if (!(e instanceof MissingFile)) return new CannotStart("broken", { what: String(e) });
  const url = new URL(e.url);
  if (e.status === 404) return new CannotStart("not-found", { url: e.url });
  if (e.status > 0) return new CannotStart("status", { url: e.url, status: e.status });
  if (url.protocol === "file:") return new CannotStart("file", { url: e.url });
  return new CannotStart(url.origin === location.origin ? "no-answer" : "cors", { url: e.url });
}

/** An import that fails tells a program nothing, so the file is asked for once more, plainly. @returns {Promise<CannotStart>} */
async function whyNoGlue() {
  try {
    const response = await glueFile();
    const type = typeOf(response);
    return /javascript|ecmascript/.test(type)
      ? new CannotStart("broken", { what: response.url })
      : new CannotStart("mime-js", { url: response.url, type });
  } catch (e) {
    return missing(e);
  }
}

/** @param {Response} response */
function typeOf(response) {
  return (response.headers.get("content-type") ?? "").split(";")[0].trim() || "?";
}

/** @type {Promise<import("./types.js").Wasm> | undefined} */
let started;

/** @returns {Promise<import("./types.js").Wasm>} */
async function start() {
  checkBrowser();
  const [module, response] = await Promise.all([
    glue().catch(async () => {
      throw await whyNoGlue();
    }),
    wasm().catch((e) => {
      throw missing(e);
    }),
  ]);
  const type = typeOf(response);
  /** @type {Response | ArrayBuffer} */
  let source = response;
  if (type !== "application/wasm") {
    // Streaming insists on the type; the bytes do not.
    source = await response.arrayBuffer();
    const head = new Uint8Array(source, 0, Math.min(4, source.byteLength));
    if (head.length < 4 || EMPTY.subarray(0, 4).some((b, i) => head[i] !== b)) {
      throw new CannotStart("mime", { url: response.url, type });
    }
  }
  try {
    await module.default({ module_or_path: source });
  } catch (e) {
    if (e instanceof RangeError) throw new CannotStart("memory");
    throw new CannotStart("broken", { what: response.url });
  }
  return module;
}

/** The model, started once for all labs of a page. @returns {Promise<import("./types.js").Wasm>} */
export function load() {
  started ??= start().catch((e) => {
    started = undefined;
    throw e;
  });
  return started;
}
