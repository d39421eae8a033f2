// @ts-check
/**
 * `<reweight-lab>`: the public element. It declares, waits until it is near the viewport, and delegates;
 * everything it does is in core/. Importing this file where there is no document does nothing.
 */

/** @typedef {import("./core/start.js").Core} Core */
/** @typedef {import("./core/types.js").LabState} LabState */

/** How far outside the viewport a lab starts. */
const NEAR = "400px";

/** Room for a lab whose picture is not there yet: empty ones would all lie in view, and all begin at once. */
const ROOM = ":host { display: block; min-height: 320px }";
/** @type {CSSStyleSheet | undefined} */
let room;

/** Labs of the page that are starting: until they are there, those below them may still move. @type {Set<Promise<unknown>>} */
const starting = new Set();

const FIXED = ["preset", "kernel", "hz", "cpus-online", "pi", "layout", "lang", "dir", "lab-url"];

class ReweightLabElement extends (/** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {})) {
  static observedAttributes = FIXED;

  /** @type {Core | null} */
  #core = null;
  /** @type {Promise<Core> | null} */
  #starting = null;
  /** @type {IntersectionObserver | null} */
  #sight = null;
  /** @type {MutationObserver | null} */
  #nices = null;
  /** Whether it is in view or near it: out of view the clock stands, whoever started it. */
  #near = true;
  /** The same, as last observed; false before. */
  #seen = false;
  /** Why it did not start. @type {unknown} */
  #failure = null;
  /** Called once the next picture is drawn and it is known what is in view. @type {(() => void)[]} */
  #pictured = [];
  /** The run as it stood when the element was last taken out. @type {object | null} */
  #kept = null;
  #settle = /** @type {(element: ReweightLabElement) => void} */ (() => {});
  #ready = this.#promise();

  /** Settles when the model is up and the first picture is painted; does not settle while starting fails. */
  get ready() {
    return this.#ready;
  }

  /**
   * Settles when the lab is at rest: if it is in view, or was told to, it has started; all it was asked for has
   * arrived and is drawn; no number or colour is on its way to another; the address and what a screen reader is told,
   * which else wait for a quiet moment, are written. A clock that runs is no unrest: then it settles with a picture of
   * its time. Out of view, or in no document, a lab that was not told to begin rests. Rejects with the sentence that
   * stands in the lab's place when it cannot start; the error's `cause` is that of the event `error`.
   * @returns {Promise<this>}
   */
  async settled() {
    // Twice: what the first picture shows may have been asked for only then.
    for (let still = 0; still < 2 && this.isConnected; ) {
      await this.#picture();
      if (starting.size) {
        await Promise.allSettled(starting);
        still = 0;
      } else if (this.#failure) throw this.#failure;
      else still = !this.#core || this.#core.rest() ? still + 1 : 0;
    }
    return this;
  }

  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    // What the author wrote inside stands until the picture does.
    if (!this.#core && !root.firstChild) root.append(document.createElement("slot"));
    if (!this.#core) this.#room(true);
    this.#nices ??= new MutationObserver((all) => {
      for (const m of all) if (m.attributeName?.endsWith("-nice")) this.#core?.attribute(m.attributeName, this.getAttribute(m.attributeName));
    });
    this.#nices.observe(this, { attributes: true });
    if (typeof IntersectionObserver !== "function") return void this.#start();
    this.#sight ??= new IntersectionObserver((entries) => {
      const came = !this.#seen;
      this.#near = this.#seen = entries[entries.length - 1].isIntersecting;
      // Once each time it comes near: what has failed is not tried again and again.
      if (came && this.#near) void this.#start().catch(() => {});
      this.#core?.suspend(!this.#near);
      // Whoever is told in the same breath goes first.
      const waiting = this.#pictured.splice(0);
      if (waiting.length) setTimeout(() => waiting.forEach((done) => done()));
    }, { rootMargin: NEAR });
    this.#sight.observe(this);
  }

  disconnectedCallback() {
    this.#sight?.disconnect();
    this.#seen = false;
    this.#nices?.disconnect();
    for (const done of this.#pictured.splice(0)) done();
    // Moved within the document it is back before this runs, and nothing is lost.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#kept = this.#core?.keep() ?? this.#kept;
      this.#core?.free();
      this.#core = null;
      this.#starting = null;
      this.#ready = this.#promise();
    });
  }

  /** @param {string} name @param {string | null} old @param {string | null} value */
  attributeChangedCallback(name, old, value) {
    if (old !== value) this.#core?.attribute(name, value);
  }

  // ---- properties: each is its attribute ------------------------------------------------------

  get preset() { return this.getAttribute("preset") ?? "patch-test"; }
  set preset(v) { this.setAttribute("preset", v); }
  get kernel() { return this.getAttribute("kernel") ?? this.#core?.state().kernel ?? ""; }
  set kernel(v) { this.setAttribute("kernel", v); }
  get hz() { return Number(this.getAttribute("hz") ?? this.#core?.state().hz ?? 0); }
  set hz(v) { this.setAttribute("hz", String(v)); }
  get cpusOnline() { return Number(this.getAttribute("cpus-online") ?? 1); }
  set cpusOnline(v) { this.setAttribute("cpus-online", String(v)); }
  get pi() { return this.getAttribute("pi") ?? "reweight"; }
  set pi(v) { this.setAttribute("pi", v); }
  get layout() { return this.getAttribute("layout") ?? "embed"; }
  set layout(v) { this.setAttribute("layout", v); }
  /** Whether the clock runs. */
  get playing() { return this.#core?.state().playing ?? false; }
  /** The clock, ns. */
  get timeNs() { return this.#core?.state().time_ns ?? 0; }

  // ---- methods --------------------------------------------------------------------------------

  /** Lets the clock run. */
  async play() { (await this.#start()).do((lab) => lab.play()); }
  /** Stops it. */
  async pause() { (await this.#start()).do((lab) => lab.pause()); }
  /** On to the next scheduling decision of either row; `-1` goes back. @param {1 | -1} [direction] */
  async step(direction = 1) { (await this.#start()).do((lab) => lab.step(direction)); }
  /** To the workload as loaded, at time 0. */
  async reset() { (await this.#start()).do((lab) => lab.reset()); }
  /** Takes back the last change. */
  async undo() { (await this.#start()).do((lab) => lab.undo()); }
  /** Makes the change again that was taken back last. */
  async redo() { (await this.#start()).do((lab) => lab.redo()); }
  /** Sets the clock. @param {number} ns */
  async seek(ns) { (await this.#start()).do((lab) => lab.seek(ns)); }
  /** Sets a task's nice, -20 to 19: at the start, or from now on while a run is played. @param {string} task @param {number} nice */
  async setNice(task, nice) { (await this.#start()).do((lab) => lab.setNice(task, nice)); }
  /** Sets what row b's mutex lends: none, stock, reweight, reweight-v2, reweight-fixed, proxy-exec. @param {string} variant */
  async setPi(variant) { (await this.#start()).do((lab) => lab.setPi(variant)); }
  /** Loads rt-app JSON, as text or as an object. @param {string | object} workload @param {string} [name] */
  async load(workload, name = "workload.json") {
    const text = typeof workload === "string" ? workload : JSON.stringify(workload);
    (await this.#start()).do((lab) => lab.load(text, name));
  }
  /** The lab as plain data. @returns {LabState} */
  state() {
    return this.#core?.state() ?? { format: 1, playing: false, time_ns: 0, kernel: "", hz: 0, holder: null, workload: "", runs: [] };
  }
  /** The session as rt-app JSON, with everything that was changed. @returns {Promise<string>} */
  async workload() { return (await this.#start()).workload(); }

  // ---- starting -------------------------------------------------------------------------------

  #promise() {
    return new Promise((/** @type {(element: ReweightLabElement) => void} */ settle) => {
      this.#settle = settle;
    });
  }

  /** Keeps room for the picture, or no longer. @param {boolean} on */
  #room(on) {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    if (!("adoptedStyleSheets" in root)) return;
    if (!room) (room = new CSSStyleSheet()).replaceSync(ROOM);
    const others = root.adoptedStyleSheets.filter((sheet) => sheet !== room);
    root.adoptedStyleSheets = on ? [...others, room] : others;
  }

  /** The next picture: with it the observers tell what is in view, this one anew. @returns {Promise<void>} */
  #picture() {
    return new Promise((done) => requestAnimationFrame(() => {
      if (!this.isConnected || !this.#sight) return void setTimeout(done);
      this.#pictured.push(done);
      this.#sight.unobserve(this);
      this.#sight.observe(this);
    }));
  }

  /** @returns {Promise<Core>} */
  #start() {
    if (this.#starting) return this.#starting;
    this.#failure = null;
    const boot = this.#boot().catch((e) => {
      this.#starting = null;
      // Taken out while it started it did not fail.
      this.#failure = this.isConnected ? e : null;
      throw e;
    }).finally(() => {
      starting.delete(boot);
      this.#room(false);
    });
    starting.add(boot);
    return (this.#starting = boot);
  }

  /** @returns {Promise<Core>} */
  async #boot() {
    const emit = (/** @type {string} */ type, /** @type {object} */ detail) =>
      void this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
    let module;
    try {
      module = await import("./core/start.js");
    } catch {
      // Without the core there are no words: the one sentence that stands here.
      const root = /** @type {ShadowRoot} */ (this.shadowRoot);
      const note = document.createElement("p");
      note.textContent = "Reweight Lab could not load core/start.js from beside reweight-lab.js. Were all files of the lab copied, and does the server send .js files as text/javascript?";
      root?.replaceChildren(document.createElement("slot"), note);
      emit("error", { cause: "import", message: note.textContent });
      throw new Error(note.textContent, { cause: "import" });
    }
    const core = await module.start(this, /** @type {ShadowRoot} */ (this.shadowRoot), emit, this.#kept);
    if (!this.isConnected) {
      core.free();
      throw new DOMException("The element was removed while it started.", "AbortError");
    }
    this.#core = core;
    // A call may have started it far from the viewport; nobody will tell that it is out of view.
    core.suspend(!this.#near);
    this.#settle(this);
    emit("ready", core.state());
    return core;
  }
}

if (globalThis.customElements && !customElements.get("reweight-lab")) customElements.define("reweight-lab", ReweightLabElement);

export { ReweightLabElement };
