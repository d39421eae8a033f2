/** Brings one element up: words, style, model, parts; or says in one sentence why not. Keeps attributes and session in step. */
import { el } from "./dom.js";
import { figure } from "./figure.js";
import { Lab } from "./lab.js";
import { CannotStart, load, missing } from "./load.js";
import { sheet, View } from "./view.js";
import { languageOf, words } from "./words.js";

/** What the element holds on to. @typedef {Awaited<ReturnType<typeof start>>} Core */

/** What is kept of a lab whose element was taken out. @typedef {{ text: string, name: string, isPreset: boolean, time: number, view: { from: number, to: number } }} Kept */

/** When even the words cannot be fetched: by cause, and for all others. @type {Record<string, string>} */
const NO_WORDS = {
  file: "This build of Reweight Lab cannot run from a file. Serve the folder over HTTP, or open the one-file build.",
  cors: "Reweight Lab is served from another origin that does not allow it. Send Access-Control-Allow-Origin with its files, or copy them beside the page.",
  any: "Reweight Lab could not fetch its own files beside its script. Were all of them copied, and does connect-src of the page’s policy allow them?",
};

/**
 * Says why the lab cannot start, in its place and as an event.
 * @param {ShadowRoot} root @param {import("./words.js").Words | null} w @param {unknown} e
 * @param {(type: string, detail: object) => void} emit
 * @returns {Error} the same for who called: the sentence, and its id as `cause`
 */
function failure(root, w, e, emit) {
  const { cause, values } = e instanceof CannotStart ? e : missing(e);
  const plain = NO_WORDS[cause] ?? NO_WORDS.any;
  const message = w ? w.t(`fail-${cause}`, values).replace(/[*`]/g, "") : plain;
  const note = el("div", { class: "note", role: "alert" }, el("p", {}, w ? w.rich(`fail-${cause}`, values) : plain));
  // The author's own figure stays where there is one; else ours stands in.
  root.replaceChildren(el("slot", {}, w && figure(w)), note);
  emit("error", { cause, message });
  return new Error(message, { cause });
}

/** When the next picture is on the screen: its sizes are observed after its frames were asked for. */
const pictured = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

/**
 * @param {HTMLElement} host @param {ShadowRoot} root
 * @param {(type: string, detail: object) => void} emit @param {object | null} keptBefore
 */
export async function start(host, root, emit, keptBefore) {
  let lang = languageOf(host);
  /** @type {import("./words.js").Words | null} */
  let w = null;
  /** @type {import("./types.js").Wasm} */
  let wasm;
  const loading = load();
  loading.catch(() => {});
  try {
    const sheets = Promise.all([sheet("tokens.css"), sheet("lab.css")]);
    sheets.catch(() => {});
    w = await words(lang);
    const style = await sheets.catch(async (e) => {
      // A browser too old for the sheets is told so by the check, in its own words.
      await loading;
      throw e;
    });
    // What keeps room for the picture stays until it is there.
    root.adoptedStyleSheets = [...new Set([...style, ...root.adoptedStyleSheets])];
    if (!host.firstElementChild && root.querySelector("slot")) root.replaceChildren(el("slot", {}, figure(w)));
    wasm = await loading;
  } catch (e) {
    throw failure(root, w, e, emit);
  }

  const layoutOf = () => {
    const layout = host.getAttribute("layout");
    return layout === "lab" || layout === "projector" ? layout : "embed";
  };
  const lab = new Lab(wasm, (type, detail) => {
    if (type === "change") reflect(/** @type {{ control: string }} */ (detail).control);
    emit(type, detail);
  });

  const kept = /** @type {Kept | null} */ (keptBefore);
  /** @type {import("./words.js").Words} */
  let said = w;
  /** @type {View | undefined} */
  let made;
  const make = () => {
    made?.free();
    const rtl = getComputedStyle(host).direction === "rtl";
    const view = new View(root, lab, said, { layout: layoutOf(), labUrl: host.getAttribute("lab-url"), rtl });
    made = view;
    if (address?.looked || kept) view.ctx.fresh = false;
    const tell = lab.onchange;
    lab.onchange = (what) => {
      tell?.(what);
      address?.changed(what);
    };
    view.show();
  };

  // ---- attributes -----------------------------------------------------------------------------

  /** @param {string} name @param {Record<string, unknown>} values */
  const note = (name, values) => void lab.notices.push({ key: name, values });

  /** A nice from an attribute: out of range is brought in, and said. @param {string} name @param {string} value */
  function niceFrom(name, value) {
    const n = Math.round(Number(value));
    if (value.trim() === "" || !Number.isFinite(n)) return note("bad-value", { setting: `${name}=${value}` });
    const kept = Math.max(-20, Math.min(19, n));
    if (kept !== n) note("bad-nice-link", { setting: `${name}=${value}`, used: kept });
    return kept;
  }

  /** @returns {import("./types.js").SessionOptions} */
  function options() {
    /** @type {Record<string, unknown>} */
    const out = {};
    const kernel = host.getAttribute("kernel");
    const pi = host.getAttribute("pi");
    if (kernel) out.kernel = kernel;
    if (pi) out.pi = pi;
    for (const [name, key] of /** @type {const} */ ([["hz", "hz"], ["cpus-online", "cpus_online"]])) {
      const value = host.getAttribute(name);
      if (value === null) continue;
      if (Number.isInteger(Number(value)) && Number(value) > 0) out[key] = Number(value);
      else note("bad-value", { setting: `${name}=${value}` });
    }
    /** @type {Record<string, number>} */
    const nice = {};
    for (const { name, value } of host.attributes) {
      if (!name.endsWith("-nice")) continue;
      const n = niceFrom(name, value);
      if (n !== undefined) nice[name.slice(0, -5)] = n;
    }
    if (Object.keys(nice).length) out.nice = nice;
    return out;
  }

  /** Loads; an option the model refuses is left out and said. @param {string} text @param {string} name @param {boolean} isPreset @param {import("./types.js").SessionOptions} asked */
  function loadWith(text, name, isPreset, asked) {
    try {
      return lab.load(text, name, asked, isPreset);
    } catch (e) {
      /** @type {Record<string, unknown>} */
      const good = {};
      const each = Object.entries(asked).flatMap(([k, v]) => (k === "nice" ? Object.entries(v).map(([task, n]) => /** @type {const} */ ([k, { [task]: n }])) : [/** @type {const} */ ([k, v])]));
      let bad = 0;
      for (const [k, v] of each) {
        const trial = { ...good, [k]: k === "nice" ? { .../** @type {object} */ (good.nice ?? {}), ...v } : v };
        try {
          new wasm.Session(text, name, trial).free();
          Object.assign(good, trial);
        } catch (refused) {
          bad++;
          const shown = k === "nice" ? Object.entries(v).map(([t, n]) => `${t}-nice=${n}`).join() : `${k.replace("_", "-")}=${v}`;
          note("bad-setting", { setting: shown, message: /** @type {any} */ (refused)?.message ?? "" });
        }
      }
      lab.refusal = null;
      if (!bad) throw e;
      lab.load(text, name, good, isPreset);
    }
  }

  /** @type {import("./link.js").Wanted | null} */
  let wanted = null;
  /** @type {import("./link.js").Address | null} */
  let address = null;

  function open() {
    if (wanted?.workload !== undefined) {
      try {
        return loadWith(wanted.workload, "workload.json", false, {});
      } catch {
        const refusal = lab.refusal;
        loadPreset("patch-test", {});
        lab.refusal = refusal;
        return undefined;
      }
    }
    const inline = host.querySelector(":scope > script[type='application/json']");
    const named = host.getAttribute("preset");
    if (inline && !named) {
      try {
        return loadWith(inline.textContent ?? "", "workload.json", false, options());
      } catch {
        const refusal = lab.refusal;
        loadPreset("patch-test", {});
        lab.refusal = refusal;
        return undefined;
      }
    }
    loadPreset(named ?? "patch-test", options());
  }

  /** @param {string} name @param {import("./types.js").SessionOptions} asked */
  function loadPreset(name, asked) {
    let preset = lab.presets.find((p) => p.name === name);
    if (!preset) {
      preset = lab.presets[0];
      note("bad-preset", { setting: `preset=${name}`, used: preset.name });
    }
    loadWith(preset.text, preset.name, true, asked);
  }

  /** @param {string} name @param {unknown} value */
  const attr = (name, value) => {
    if (host.getAttribute(name) !== String(value)) host.setAttribute(name, String(value));
  };

  /** Writes the start state back to the attributes. @param {string} control */
  function reflect(control) {
    if (!lab.session) return;
    const { info } = lab;
    if (/^(reset|undo|redo)$/.test(control)) {
      for (const { name } of [...host.attributes]) {
        const task = name.endsWith("-nice") && info.tasks.find((t) => t.name === name.slice(0, -5));
        if (task) attr(name, task.nice);
      }
      if (host.hasAttribute("pi")) attr("pi", info.pi);
      if (host.hasAttribute("kernel")) attr("kernel", info.kernel);
      if (host.hasAttribute("hz")) attr("hz", info.hz);
      if (host.hasAttribute("cpus-online")) attr("cpus-online", info.cpus_online);
    } else if (control === "kernel") attr("kernel", info.kernel);
    else if (control === "hz") attr("hz", info.hz);
    else if (control === "cpus") attr("cpus-online", info.cpus_online);
    else if (lab.horizon !== null) return;
    else if (control === "pi") attr("pi", info.pi);
    else if (control.startsWith("nice:")) {
      const name = control.slice(5);
      const task = info.tasks.find((t) => t.name === name);
      // Not every task's name can be an attribute's.
      if (task && /^[a-z_][\w.-]*$/i.test(name)) attr(`${name.toLowerCase()}-nice`, task.nice);
    }
  }

  try {
    if (kept) {
      lab.load(kept.text, kept.name, {}, kept.isPreset);
      lab.time = kept.time;
      lab.view = kept.view;
    } else {
      const link = host.hasAttribute("link") ? await import("./link.js") : null;
      if (link) {
        wanted = await link.readLink(host, note);
        lang = languageOf(host);
        said = await words(lang);
      }
      open();
      if (link && wanted) {
        link.applyLink(lab, wanted, note);
        address = new link.Address(host, lab);
        address.looked = link.lookAt(lab, wanted);
      }
    }
    make();
    if (wanted?.tour !== undefined) void made?.tool("tour", wanted.tour);
    // Painted before anyone is told that it is ready.
    await pictured();
    lab.flush();
    if (address) {
      const moved = address;
      // From here on it is the reader who looks.
      for (const type of ["pointerdown", "keydown"]) root.addEventListener(type, () => (moved.looked = true), { once: true });
    }
  } catch (e) {
    throw failure(root, w, e, emit);
  }

  // The page's language may change under us.
  const watch = new MutationObserver(() => void language());
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["lang", "dir"] });
  async function language() {
    const now = languageOf(host);
    const rtl = getComputedStyle(host).direction === "rtl";
    if (now === lang && rtl === made?.options.rtl) return;
    lang = now;
    const table = await lab.during(words(now)).catch(() => null);
    if (!table || now !== lang) return;
    said = table;
    make();
  }

  return {
    /** Acts, and has the picture follow at once. @param {(lab: Lab) => void} act */
    do(act) {
      act(lab);
      lab.flush();
    },
    /** Whether nothing is on its way and nothing moves. What only waits for quiet is done first. */
    rest: () => !lab.busy && !made?.moving && ![made, address].map((part) => part?.hurry()).some(Boolean),
    state: () => lab.state(),
    workload: () => /** @type {import("./types.js").Session} */ (lab.session).workload(),
    /** @param {boolean} on */
    suspend: (on) => lab.suspend(on),
    /** @param {string} name @param {string | null} value */
    attribute(name, value) {
      const { info } = lab;
      try {
        if (name === "layout" || name === "lab-url") make();
        else if (name === "lang" || name === "dir") void language();
        else if (name === "preset") {
          if ((value ?? "patch-test") !== lab.workload) loadPreset(value ?? "patch-test", {});
        } else if (value === null) return;
        else if (name === "pi") {
          if (value !== info.pi) lab.setPi(value);
        } else if (name === "kernel") {
          if (value !== info.kernel) lab.setKernel(value);
        } else if (name === "hz") {
          if (Number(value) !== info.hz) lab.setHz(Number(value));
        } else if (name === "cpus-online") {
          if (Number(value) !== info.cpus_online) lab.setCpus(Number(value));
        } else if (name.endsWith("-nice")) {
          const task = info.tasks.find((t) => t.name.toLowerCase() === name.slice(0, -5));
          const n = niceFrom(name, value);
          if (task && n !== undefined && n !== task.nice) lab.setNice(task.name, n);
        }
      } catch (e) {
        note("bad-setting", { setting: `${name}=${value}`, message: /** @type {any} */ (e)?.message ?? "" });
      }
      lab.touch("notice");
    },
    /** @returns {Kept | null} */
    keep: () => (lab.session ? { text: lab.session.workload(), name: lab.workload, isPreset: lab.isPreset, time: lab.time, view: lab.view } : null),
    lab,
    get view() {
      return made;
    },
    free() {
      watch.disconnect();
      address?.free();
      made?.free();
      lab.free();
      root.replaceChildren(el("slot"));
    },
  };
}
