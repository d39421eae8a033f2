/** The element's inside: puts the parts together, hands them what they share, and keeps the reader told. */
import { text, page } from "./assets.js";
import { answers } from "./answers.js";
import { Calm } from "./calm.js";
import { controls } from "./controls.js";
import { append, el, say, set, svg, taskName } from "./dom.js";
import { figure } from "./figure.js";
import { listen } from "./keys.js";
import { strip } from "./strip.js";
import { timeline, when } from "./timeline.js";
import { Theme } from "./theme.js";

/** Quiet after the last change before the live region speaks, ms. */
const QUIET = 500;

/** Around the panel of a projected tour, CSS px. */
const PANEL_GAPS = 40;

/**
 * What the parts share.
 * @typedef {object} Context
 * @property {import("./words.js").Words} words
 * @property {Theme} theme
 * @property {boolean} rtl
 * @property {boolean} dragging a thumb is held: values follow at once
 * @property {boolean} fresh nothing was looked at yet: the first picture may be framed anew
 * @property {number} scale 1, or 1.6 projected
 * @property {"embed" | "lab" | "projector"} layout
 * @property {{ x: number, width: number }} [plot] where the timeline's plot lies, so that the strip lies under it
 * @property {(row: number) => number | undefined} [recorded] the holder's share on a real kernel, where one was recorded
 * @property {(width: number, height: number) => object} paintBase what every painter gets
 * @property {(ns: number) => string} clock
 * @property {(act: () => void) => void} attempt runs a change; a refusal becomes a notice
 * @property {(key: string, values?: Record<string, unknown>) => void} tell adds a notice
 * @property {(name: string) => void} openPreset
 * @property {(name: string) => void} dialog
 * @property {() => Node | null} extraFields
 * @property {() => Node} embedActions
 */

/** @type {Map<string, Promise<CSSStyleSheet>>} */
const sheets = new Map();

/** A style sheet, made once for all labs. @param {string} name */
export function sheet(name) {
  let made = sheets.get(name);
  if (!made) {
    made = text(name).then((css) => new CSSStyleSheet().replace(css));
    sheets.set(name, made);
    made.catch(() => sheets.delete(name));
  }
  return made;
}

export class View {
  /**
   * @param {ShadowRoot} root @param {import("./lab.js").Lab} lab @param {import("./words.js").Words} words
   * @param {{ layout: "embed" | "lab" | "projector", labUrl: string | null, rtl: boolean }} options
   */
  constructor(root, lab, words, options) {
    this.root = root;
    this.lab = lab;
    this.words = words;
    this.options = options;
    this.theme = new Theme(root, () => lab.touch("theme"));
    /** @type {Context} */
    this.ctx = {
      words,
      theme: this.theme,
      rtl: options.rtl,
      dragging: false,
      fresh: true,
      scale: options.layout === "projector" ? 1.5 : 1,
      layout: options.layout,
      paintBase: (width, height) => ({ width, height, dpr: Math.min((devicePixelRatio || 1) * this.zoom, 4), scale: this.ctx.scale, rtl: options.rtl, decimal: words.decimal, labels: this.labels, ...this.theme.read() }),
      clock: (ns) => when(lab, words, ns),
      attempt: (act) => this.attempt(act),
      tell: (k, v) => this.tell(k, v),
      openPreset: (name) => this.attempt(() => lab.loadPreset(name, { kernel: lab.info.kernel, hz: lab.info.hz, pi: lab.info.pi })),
      dialog: (name) => void this.dialog(name),
      extraFields: () => el("button", { class: "btn", type: "button", "data-control": "tasks", onclick: () => this.dialog("tasks") }, words.t("tasks")),
      embedActions: () => this.embedActions(),
    };
    this.labels = Object.fromEntries(Object.entries(words.table).filter(([k]) => k.startsWith("paint-")).map(([k, v]) => [k.slice(6).replaceAll("-", "_"), v]));
    /** @type {import("./types.js").Part[]} */
    this.parts = [];
    /** @type {HTMLElement | undefined} */
    this.nav = undefined;
    /** @type {Promise<void> | undefined} */
    this.belowLoaded = undefined;
    this.calm = new Calm(QUIET, () => {
      if (this.lab.session && !this.lab.playing) say(this.live, this.summary());
    });
    const { ctx } = this;
    const w = words;
    this.timeline = timeline(lab, ctx);
    this.answers = answers(lab, ctx);
    this.controls = controls(lab, ctx, { full: this.options.layout === "lab", words: this.options.layout === "projector" });
    this.parts.push(this.answers, this.timeline, this.controls);
    this.question = el(this.full ? "h1" : "p", { class: "q", id: "question", part: "question" });
    this.intro = el("p");
    this.messages = el("div", { class: "messages", role: "status" });
    this.live = el("span", { class: this.full ? "live" : "sr", role: "status" });
    const runs = el("div", { class: "runs" }, this.answers.node, this.timeline.node);
    const both = el("section", { class: "card both", "aria-label": w.t("both-runs") }, runs);
    const print = el("div", { class: "print-only" });
    this.print = print;
    if (this.full) {
      this.legend = el("div", { class: "legend" });
      this.below = el("div", { class: "below" });
      this.terminal = el("span");
      const ask = el("section", { class: "ask", "aria-labelledby": "question" }, this.question, this.intro);
      const foot = el("footer", { class: "foot" }, this.terminal, this.live);
      if (this.options.layout === "projector") this.node = el("div", {}, el("main", { class: "wrap" }, ask, this.messages, both, this.bar(), print, this.below, foot));
      else {
        const over = strip(lab, ctx);
        this.parts.push(over);
        both.append(over.node, this.legend);
        this.node = el("div", {},
          el("header", { class: "wrap top" },
            el("span", { class: "brand" }, "Reweight Lab"), el("span", { class: "muted sub" }, w.t("subtitle")), this.menu(), (this.nav = el("nav", { "aria-label": w.t("tools") }, ["tour", "share", "save", "projector", "keys"].map((name) => this.toolButton(name))))),
          el("main", { class: "wrap" }, ask, this.messages, both, this.controls.node, print, this.below, foot));
      }
      this.node.classList.add("lab");
    } else {
      this.caption = el("p", { class: "cap" });
      this.table = el("div", { class: "scroll", hidden: true });
      this.node = el("section", { class: "card embed", "aria-labelledby": "question" },
        this.question, this.messages, both, this.controls.node, this.caption, this.table, print, this.live);
    }
    this.node.classList.add(this.options.layout);
    listen(this.root, lab, this.timeline.slider, ctx);
      lab.onchange = (what) => this.update(what);
  }

  /** How much a large screen enlarges the projected page. */
  get zoom() {
    return this.options.layout === "projector" && this.node ? Number(getComputedStyle(this.node).zoom) || 1 : 1;
  }

  get full() {
    return this.options.layout !== "embed";
  }

  /** @private @param {string} name */
  toolButton(name) {
    return el("button", { class: "btn plain", type: "button", "data-control": name, onclick: () => this.tool(name) }, this.words.t(`tool-${name}`), name === "keys" && el("kbd", { "aria-hidden": "true" }, "?"));
  }

  /** The one bar of the projected lab. @private */
  bar() {
    const leave = el("button", { class: "btn plain", type: "button", "data-control": "projector", onclick: () => this.tool("projector") }, this.words.t("leave-projector"));
    return el("div", { class: "pbar", role: "group", "aria-label": this.words.t("controls") }, /** @type {ReturnType<typeof controls>} */ (this.controls).transport, this.toolButton("tour"), leave, this.legend);
  }

  /** On a narrow page the tools fold into one button. @private */
  menu() {
    const button = el("button", { class: "btn plain menu", type: "button", "aria-expanded": "false", onclick: () => {
      button.setAttribute("aria-expanded", String(this.nav?.classList.toggle("open")));
    } }, this.words.t("menu"));
    return button;
  }

  /** Puts the picture in place of what stood there. */
  show() {
    this.root.replaceChildren(this.node, this.theme.probe);
    this.update(new Set(["session", "time", "view", "select", "play", "theme", "cover", "notice"]));
    if (this.full) this.watchBelow();
  }

  /** @private @param {Set<import("./types.js").Topic>} what */
  update(what) {
    if (!this.lab.session) return;
    for (const part of this.parts) part.update(what);
    if (what.has("session")) this.words_();
    if (what.has("session") || what.has("notice")) this.notices();
    this.node.classList.toggle("pristine", !this.lab.changed && this.lab.workload === "patch-test");
    this.node.classList.toggle("stale", this.lab.refusal !== null);
    this.node.classList.toggle("covered", this.lab.cover !== 0);
    this.node.classList.toggle("drag", this.ctx.dragging);
    // One sentence, when things have come to rest.
    if (!this.lab.playing && (what.has("session") || what.has("cover") || what.has("play"))) this.calm.wait();
  }

  /** The sentences that name tasks. @private */
  words_() {
    const { lab, words: w } = this;
    const info = lab.info;
    /** @type {Record<string, Node | string>} */
    const names = {};
    if (lab.holder) names.holder = taskName(lab.holder, false);
    if (lab.waiter) names.waiter = taskName(lab.waiter, false);
    const id = `preset-${lab.workload}-question`;
    // Heading names carry their hue but not the weight of a mark.
    set(this.question, lab.isPreset && w.has(id) && lab.holder && lab.waiter ? w.rich(id, names).flatMap((piece) => (typeof piece === "string" ? named(piece, info.tasks) : piece)) : named(info.question || info.title || lab.workload, info.tasks));
    if (this.full) {
      set(/** @type {Element} */ (this.intro), this.introduction());
      this.drawLegend();
      const plain = !lab.changed && lab.isPreset;
      set(/** @type {Element} */ (this.terminal), w.rich("terminal", {
        command: el("code", {}, `reweight-lab compare ${plain ? lab.workload : "workload.json"} --kernel ${info.kernel} --hz ${info.hz} --pi stock --pi ${info.pi}`),
      }), plain ? "" : ` ${w.t("terminal-saved")}`);
    } else {
      const k = info.kernels.find((x) => x.name === info.kernel);
      set(/** @type {Element} */ (this.caption), w.t("embed-note", { kernel: info.kernel, hz: info.hz, from: k?.from_patches ? ` (${w.t("from-patches")})` : "" }), " ",
        el("a", { href: "#", "data-control": "table", role: "button", "aria-expanded": String(!this.table?.hidden), onclick: (/** @type {Event} */ e) => {
          e.preventDefault();
          this.toggleTable(/** @type {Element} */ (e.currentTarget));
        } }, w.t("table")));
      if (this.table && !this.table.hidden) this.drawTable(this.table);
    }
    this.drawPrint();
  }

  /** @private @returns {(Node | string)[]} */
  introduction() {
    const { lab, words: w } = this;
    const { info, holder, waiter } = lab;
    if (!holder || !waiter) return [w.t("nothing-to-compare")];
    const fair = info.tasks.every((t) => !/FIFO|RR|DEADLINE/.test(t.policy));
    if (lab.workload.startsWith("patch-test") && fair && info.tasks.length === 3) {
      const bg = /** @type {import("./types.js").TaskInfo} */ (info.tasks.find((t) => t.role === "other"));
      return w.rich("intro-three", {
        holder: taskName(holder), waiter: taskName(waiter), other: taskName(bg), lock: info.locks[0]?.name ?? "",
        holder_nice: w.int(holder.nice), waiter_nice: w.int(waiter.nice), other_nice: w.int(bg.nice), holder_plain: holder.name, waiter_plain: waiter.name,
      });
    }
    const look = `preset-${lab.workload}-look`;
    if (lab.isPreset && w.has(look)) return w.rich(look, { holder: taskName(holder), waiter: taskName(waiter) });
    return named(info.look, info.tasks);
  }

  /** @private */
  drawLegend() {
    const { words: w, lab } = this;
    const boost = (/** @type {boolean} */ solid) => svg("svg", { viewBox: "0 0 40 20", "aria-hidden": "true" },
      svg("path", { class: solid ? "" : "hollow", d: "M9 4l5.5 10h-11z" }), svg("line", { x1: 17, x2: 39, y1: 12, y2: 12 }), !solid && svg("line", { class: "core", x1: 17, x2: 38, y1: 12, y2: 12 }));
    const box = (/** @type {string} */ c) => el("i", { class: `lg ${c}`, "aria-hidden": "true" });
    const item = (/** @type {Node} */ mark, /** @type {string} */ label) => el("span", {}, mark, label);
    if (this.options.layout === "projector") return set(/** @type {Element} */ (this.legend), item(box("run0"), w.t("legend-running")), item(box("wait"), w.t("legend-waiting")), item(box("block"), w.t("legend-blocked-brief")));
    set(/** @type {Element} */ (this.legend),
      item(box("run0"), w.t("legend-running")), item(box("wait"), w.t("legend-ready")), item(box("block"), w.t("legend-blocked", { lock: lab.info.locks[0]?.name ?? "" })), item(box("sleep"), w.t("legend-asleep")),
      item(boost(false), w.t("legend-prio")), item(boost(true), w.t("legend-weight")),
      el("button", { class: "btn plain", type: "button", "data-control": "table", "aria-haspopup": "dialog", onclick: () => this.dialog("table") }, w.t("table")));
  }

  /** @private */
  drawPrint() {
    const { lab, words: w } = this;
    if (!lab.changed && lab.workload === "patch-test") return set(this.print, figure(w));
    const box = el("div");
    this.drawTable(box);
    set(this.print, box);
  }

  /** The windows of both rows as a table. @private @param {Element} into */
  drawTable(into) {
    const { lab, words: w } = this;
    const tasks = lab.tasks;
    set(into, el("table", {},
      el("caption", { class: "small muted" }, w.t("windows-table")),
      el("thead", {}, el("tr", {}, [w.t("run"), w.t("window")].map((t) => el("th", { scope: "col" }, t)), tasks.map((t) => el("th", { class: "num", scope: "col" }, w.t("share-of", { task: t.name }))))),
      el("tbody", {}, lab.cut.flatMap((run, row) => run.windows.map((v) => el("tr", {},
        el("th", { scope: "row" }, row ? w.t(`short-${run.pi}`) : w.t("short-stock")), el("td", {}, w.has(`window-${v.name}`) ? w.t(`window-${v.name}`) : v.name),
        tasks.map((t) => el("td", { class: "num" }, v.tasks[t.name] ? w.percent(v.tasks[t.name].share, 2) : "–"))))))));
  }

  /** @private @param {Element} link */
  toggleTable(link) {
    const table = /** @type {HTMLElement} */ (this.table);
    table.hidden = !table.hidden;
    link.setAttribute("aria-expanded", String(!table.hidden));
    if (!table.hidden) this.drawTable(table);
  }

  /** @private */
  embedActions() {
    const { words: w, options } = this;
    const href = options.labUrl ?? page();
    return el("div", { class: "acts" },
      el("button", { class: "btn", type: "button", "data-control": "why", onclick: () => this.dialog("why") }, w.t("why")),
      el("a", { class: "btn plain", href, target: "_top", "data-control": "open-lab" }, w.t("open-lab")));
  }

  // ---- being told -----------------------------------------------------------------------------

  /** Runs a change; what the model refuses is said, not thrown. @param {() => void} act */
  attempt(act) {
    try {
      if (this.lab.notices.length) {
        // A notice about the link goes when a control is used.
        this.lab.notices = [];
        this.lab.touch("notice");
      }
      act();
    } catch (e) {
      if (this.lab.refusal !== e) this.tell("refused", { message: /** @type {any} */ (e)?.message ?? String(e) });
    }
  }

  /** @param {string} k @param {Record<string, unknown>} [values] */
  tell(k, values = {}) {
    this.lab.notices.push({ key: k, values });
    this.lab.touch("notice");
  }

  /** @private */
  notices() {
    const { lab, words: w } = this;
    /** @type {Element[]} */
    const notes = [];
    const r = lab.refusal;
    if (r) {
      notes.push(el("div", { class: "note" }, el("p", {}, r.line ? el("b", {}, w.t("line-column", { line: r.line, column: r.column ?? 1 }), " ") : null,
        r.path ? el("code", {}, r.path) : null, r.path ? ": " : null, r.message,
        el("button", { class: "btn", type: "button", onclick: () => {
          lab.refusal = null;
          lab.touch("notice");
        } }, w.t("fine"))), el("p", { class: "small" }, w.t("previous-stays"))));
    }
    for (const n of lab.notices) {
      notes.push(el("div", { class: "note" }, el("p", {}, w.rich(n.key, n.values), el("button", { class: "btn", type: "button", onclick: () => {
        lab.notices = lab.notices.filter((x) => x !== n);
        lab.touch("notice");
      } }, w.t("fine")))));
    }
    for (const message of lab.info.notices) notes.push(el("div", { class: "note" }, el("p", {}, message)));
    if (!lab.holder) {
      notes.push(el("div", { class: "note" }, el("p", {}, w.t("nothing-to-compare"), el("button", { class: "btn", type: "button", onclick: () => this.ctx.openPreset("patch-test") }, w.t("show-patch-test")))));
    }
    set(this.messages, notes);
  }

  /** Whether something here still moves: a number, a bar, a colour. What never ends does not count. */
  get moving() {
    return this.parts.some((p) => p.moving) || this.root.getAnimations().some((a) => a.playState === "running" && a.effect?.getComputedTiming().endTime !== Infinity);
  }

  /** Does now what waits for quiet. @returns {boolean} whether something did */
  hurry() {
    return [this.calm, ...this.parts].map((p) => p.hurry?.()).some(Boolean);
  }

  /** @private */
  summary() {
    const { lab, words: w } = this;
    const a = lab.answer(0);
    const b = lab.answer(1);
    if (!a || !b || !lab.holder) return w.t("nothing-to-compare");
    if (lab.cover) return w.t("summary-covered");
    return w.t("summary", { task: lab.holder.name, a: w.percent(a.share), b: w.percent(b.share), variant: w.t(`short-${lab.info.pi}`) });
  }

  // ---- further down, and on top ---------------------------------------------------------------

  /** The sections below load when they come near. @private */
  watchBelow() {
    const below = /** @type {HTMLElement} */ (this.below);
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      seen.disconnect();
      void this.loadBelow();
    }, { rootMargin: "600px" });
    seen.observe(below);
    this.belowSeen = seen;
  }

  /** @returns {Promise<typeof import("./below.js")>} */
  async more() {
    const [module, style] = await Promise.all([import("./below.js"), sheet("below.css")]);
    if (!this.root.adoptedStyleSheets.includes(style)) this.root.adoptedStyleSheets.push(style);
    return module;
  }

  async loadBelow() {
    this.belowLoaded ??= this.lab.during(this.more()).then((module) => {
      const parts = module.below(this);
      this.parts.push(...parts);
      append(/** @type {Element} */ (this.below), parts.map((p) => p.node));
      // Only the new ones: the others know it, and a field may be half typed.
      for (const part of parts) part.update(new Set(["session", "time", "view", "select", "play", "theme", "cover"]));
    }).catch(() => {
      this.belowLoaded = undefined;
      this.tell("fail-below");
    });
    return this.belowLoaded;
  }

  /** @private @param {string} name */
  async dialog(name) {
    // The sections' sheet dresses the dialogs too.
    const [module] = await this.lab.during(Promise.all([import("./dialogs.js"), this.more()])).catch(() => [null]);
    if (module) module.dialog(this, name);
    else this.tell("fail-below");
  }

  /** A button of the head. @param {string} name @param {number} [step] of the tour */
  async tool(name, step = 0) {
    if (name === "projector") return this.root.host.setAttribute("layout", this.options.layout === "projector" ? "lab" : "projector");
    if (name === "tour") {
      await this.loadBelow();
      const module = await this.lab.during(this.more());
      return module.startTour(this, step);
    }
    return this.dialog(name);
  }

  /** The tour stands between the question and the picture while it is on. @param {Element} panel */
  beginTour(panel) {
    this.node?.classList.add("touring");
    this.messages.after(panel);
  }

  endTour() {
    this.node?.classList.remove("touring");
    this.rescale();
  }

  /** Projected, question and picture share one screen: the picture takes what the panel leaves. @param {HTMLElement} [panel] of the tour, while it is on */
  rescale(panel) {
    if (this.options.layout !== "projector") return;
    const { ctx, lab } = this;
    const stage = /** @type {HTMLElement} */ (this.timeline?.stage);
    const room = panel ? (innerHeight / this.zoom - panel.offsetHeight - PANEL_GAPS) / (stage.offsetHeight / ctx.scale) : Infinity;
    ctx.scale = panel ? Math.max(0.9, Math.min(1.3, room)) : 1.5;
    lab.touch("theme", "view");
  }

  /** The address that opens the lab as it stands: the page's own, or the lab page with the same settings. */
  link() {
    const url = new URL(this.full ? location.href : (this.options.labUrl ?? page()), location.href);
    if (!this.full) {
      url.search = "";
      for (const { name, value } of this.root.host.attributes) {
        if (/^(preset|kernel|hz|cpus-online|pi)$|-nice$/.test(name)) url.searchParams.set(name, value);
      }
    }
    return url.href;
  }

  /** The element as one would paste it. */
  snippet() {
    const { info, workload, isPreset } = this.lab;
    const attributes = [...this.root.host.attributes].filter((a) => /-nice$/.test(a.name)).map((a) => ` ${a.name}="${a.value}"`).join("");
    return `<reweight-lab${isPreset ? ` preset="${workload}"` : ""} kernel="${info.kernel}"${info.hz === 1000 ? "" : ` hz="${info.hz}"`}${info.pi === "reweight" ? "" : ` pi="${info.pi}"`}${attributes}></reweight-lab>`;
  }

  /** The timeline as it is seen, as PNG. @returns {Promise<Blob>} */
  picture() {
    const canvas = /** @type {HTMLCanvasElement} */ (this.timeline?.node.querySelector("canvas"));
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    const g = /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d"));
    g.fillStyle = this.theme.read().colors.surface;
    g.fillRect(0, 0, copy.width, copy.height);
    g.drawImage(canvas, 0, 0);
    return new Promise((done, fail) => copy.toBlob((b) => (b ? done(b) : fail(new Error("no picture"))), "image/png"));
  }

  free() {
    this.calm.cancel();
    this.belowSeen?.disconnect();
    for (const part of this.parts) part.free?.();
    this.theme.free();
  }
}

/** Text in which task names carry their mark's hue. @param {string} sentence @param {import("./types.js").TaskInfo[]} tasks @returns {(Node | string)[]} */
export function named(sentence, tasks) {
  const told = tasks.filter((t) => t.role !== "other" && /^\w+$/.test(t.name));
  if (told.length === 0) return [sentence];
  return sentence.split(new RegExp(`\\b(${told.map((t) => t.name).join("|")})\\b`)).map((piece) => {
    const task = told.find((t) => t.name === piece);
    return task ? taskName(task, false) : piece;
  });
}
