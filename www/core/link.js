/**
 * The lab page's state in its address: short, readable, lenient. Only an element with the attribute `link` does this.
 *
 *   preset=leak  kernel=6.1  hz=250  cpus-online=4  pi=stock  low-nice=15     start values, as attributes
 *   controls=3:low=15,5:pi=reweight,6:low=SCHED_BATCH/10                       changes, at seconds
 *   at=4.55  view=4.49-4.56                                                    clock and view, seconds
 *   w=...                                                                      a workload that is no preset, packed
 *   tour=4  layout=projector  lang=de                                          what is shown
 *
 * What is not known is left alone; what cannot be read is said, and the rest is kept.
 */
import { Calm } from "./calm.js";
import { LANGUAGES } from "./words.js";

const PLAIN = ["preset", "kernel", "hz", "cpus-online", "pi"];

/** A workload longer than this, packed, makes no link. */
const MOST = 8000;

/** Controls a link may carry. */
const MOST_CONTROLS = 100;

/** Quiet before the address is written, ms: browsers bound how often it may be. */
const QUIET = 400;

/** @typedef {{ at?: number, view?: [number, number], controls: { at: number, task: string, value: string }[], workload?: string, tour?: number }} Wanted */

/** @param {string} packed @returns {Promise<string>} */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  // A small link may unpack to a huge text: stop at the size the model would refuse anyway.
  const reader = stream.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > 4 << 20) throw new Error("too large");
    parts.push(value);
  }
  return new Blob(/** @type {BlobPart[]} */ (parts)).text();
}

/** @param {string} text @returns {Promise<string>} */
async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/**
 * Reads the address: start values become attributes, the rest is handed back.
 * @param {HTMLElement} host @param {(key: string, values: Record<string, unknown>) => void} note @returns {Promise<Wanted>}
 */
export async function readLink(host, note) {
  const query = new URLSearchParams(location.search);
  /** @type {Wanted} */
  const wanted = { controls: [] };
  const bad = (/** @type {string} */ name, /** @type {string} */ value) => note("bad-value", { setting: `${name}=${value}`.slice(0, 80) });
  const seconds = (/** @type {string} */ s) => (/^\d+(\.\d+)?$/.test(s) ? Math.round(Number(s) * 1e9) : NaN);
  for (const [name, value] of query) {
    if (PLAIN.includes(name)) host.setAttribute(name, value);
    else if (/^[a-z_][\w.]*-nice$/i.test(name) && name.length <= 64) host.setAttribute(name, value);
    else if (name === "layout" && ["lab", "projector"].includes(value)) host.setAttribute("layout", value);
    else if (name === "lang") {
      if (LANGUAGES.includes(value)) document.documentElement.lang = value;
      else bad(name, value);
    } else if (name === "at") {
      if (Number.isFinite(seconds(value))) wanted.at = seconds(value);
      else bad(name, value);
    } else if (name === "view") {
      const [from, to] = value.split("-").map(seconds);
      if (to > from) wanted.view = [from, to];
      else bad(name, value);
    } else if (name === "tour") {
      if (/^[1-8]$/.test(value)) wanted.tour = Number(value) - 1;
      else bad(name, value);
    } else if (name === "controls") {
      for (const one of value.split(",").slice(0, MOST_CONTROLS)) {
        const m = /^(\d+(?:\.\d+)?):(.+)=([^=]+)$/.exec(one);
        let task = "";
        try {
          task = decodeURIComponent(m?.[2] ?? "");
        } catch {
          // Not written by us: said below.
        }
        if (m && task) wanted.controls.push({ at: seconds(m[1]), task, value: m[3] });
        else bad(name, one);
      }
    } else if (name === "w") {
      try {
        wanted.workload = await unpack(value);
      } catch {
        bad(name, "…");
      }
    }
  }
  return wanted;
}

/** Puts what the link wants into a lab that has been loaded. @param {import("./lab.js").Lab} lab @param {Wanted} wanted @param {(key: string, values: Record<string, unknown>) => void} note */
export function applyLink(lab, wanted, note) {
  const s = /** @type {import("./types.js").Session} */ (lab.session);
  for (const c of wanted.controls) {
    const policy = /^(SCHED_\w+)\/(-?\d+)$/.exec(c.value);
    try {
      if (c.task === "pi") s.set_pi(c.value, c.at);
      else if (policy) s.set_policy(c.task, policy[1], Number(policy[2]), c.at);
      else s.set_nice(c.task, Number(c.value), c.at);
    } catch (e) {
      note("bad-setting", { setting: `${c.at / 1e9}:${c.task}=${c.value}`, message: /** @type {any} */ (e)?.message ?? "" });
    }
  }
  if (wanted.controls.length) {
    lab.changed = true;
    lab.read();
  }
}

/** @param {import("./lab.js").Lab} lab @param {Wanted} wanted @returns {boolean} whether the link says where to look */
export function lookAt(lab, wanted) {
  if (wanted.view) lab.setView(...wanted.view);
  if (wanted.at !== undefined) {
    lab.time = Math.min(wanted.at, lab.duration);
    if (!wanted.view) lab.show();
    lab.touch("time");
  }
  return wanted.view !== undefined || wanted.at !== undefined;
}

/** Keeps the address in step with the lab. */
export class Address {
  /** @param {HTMLElement} host @param {import("./lab.js").Lab} lab */
  constructor(host, lab) {
    this.host = host;
    this.lab = lab;
    this.calm = new Calm(QUIET, () => void lab.during(this.write()));
    /** Whether the reader has looked elsewhere than where a fresh lab looks. */
    this.looked = false;
  }

  /** @param {Set<import("./types.js").Topic>} what */
  changed(what) {
    if (this.lab.playing || !["session", "time", "view"].some((t) => what.has(/** @type {never} */ (t)))) return;
    this.calm.wait();
  }

  /** The lab as a query. @returns {Promise<string>} */
  async query() {
    const { lab, host } = this;
    const out = new URLSearchParams();
    const { info } = lab;
    const sec = (/** @type {number} */ ns) => String(Number((ns / 1e9).toFixed(6)));
    if (lab.tour !== null && !lab.changed) {
      // The step brings its own scenario; kernel and HZ are the reader's.
      out.set("tour", String(lab.tour + 1));
      for (const name of ["kernel", "hz"]) if (host.hasAttribute(name)) out.set(name, host.getAttribute(name) ?? "");
    } else if (lab.isPreset && !lab.reshaped) {
      if (lab.workload !== lab.presets[0].name) out.set("preset", lab.workload);
      for (const name of PLAIN.slice(1)) {
        const value = host.getAttribute(name);
        if (value !== null) out.set(name, value);
      }
      for (const { name, value } of host.attributes) if (name.endsWith("-nice")) out.set(name, value);
      const controls = info.edits.filter((e) => e.at_ns > 0).map((e) => {
        const subject = e.pi === undefined ? encodeURIComponent(e.task ?? "") : "pi";
        const value = e.pi ?? (e.policy === undefined ? e.nice : `${e.policy}/${e.priority ?? 0}`);
        return `${sec(e.at_ns)}:${subject}=${value}`;
      });
      if (controls.length && controls.length <= MOST_CONTROLS) out.set("controls", controls.join());
    } else {
      const packed = await pack(/** @type {import("./types.js").Session} */ (lab.session).workload());
      if (packed.length <= MOST) out.set("w", packed);
    }
    if (host.getAttribute("layout") === "projector") out.set("layout", "projector");
    const lang = document.documentElement.lang;
    if (lang && lang !== "en") out.set("lang", lang);
    if (this.looked && lab.tour === null) {
      out.set("at", sec(lab.time));
      out.set("view", `${sec(Math.max(0, lab.view.from))}-${sec(Math.max(0, lab.view.to))}`);
    }
    // Colons, commas and slashes may stand in a query; escaped they cannot be read.
    return out.toString().replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/%2F/g, "/");
  }

  async write() {
    if (!this.lab.session) return;
    const query = await this.query().catch(() => null);
    if (query === null) return;
    const url = `${location.pathname}${query ? `?${query}` : ""}${location.hash}`;
    if (url !== `${location.pathname}${location.search}${location.hash}`) history.replaceState(history.state, "", url);
  }

  hurry() {
    return this.calm.hurry();
  }

  free() {
    this.calm.cancel();
  }
}
