/**
 * One lab: the session, its clock and what is looked at. Knows no element; the parts of the page
 * read it and are told what changed.
 *
 * The clock. Without a horizon the whole run is known: the numbers are those of whole windows and
 * moving a control changes the start. `play()` sets the horizon to the clock: then nothing beyond it is
 * shown, numbers are cut there, and a control acts from now on. `reset()` and the end lift it.
 */

const MS = 1e6;

/** Greatest step of the clock between two frames, real ms: after a pause of the tab the run goes on, it does not leap. */
const FRAME_MS = 100;

/** @type {Record<import("./types.js").Role, number>} */
const RANK = { holder: 0, waiter: 1, other: 2 };

/** Before anything is loaded. @type {import("./types.js").Info} */
const NOTHING = {
  format: 1, title: "", question: "", look: "", kernel: "", kernels: [], hz: 1000, cpus_online: 1, pi: "stock", variants: [], duration_ns: 0,
  holder: null, waiter: null, tasks: [], locks: [], windows: [], notices: [], edits: [],
};

/** @typedef {import("./types.js").Topic} Topic */

export class Lab {
  /**
   * @param {import("./types.js").Wasm} wasm
   * @param {(name: "ready" | "change" | "tick" | "error", detail: object) => void} emit
   */
  constructor(wasm, emit) {
    this.wasm = wasm;
    this.emit = emit;
    /** @type {import("./types.js").Preset[]} */
    this.presets = wasm.presets();
    /** @type {import("./types.js").Session | null} */
    this.session = null;
    // What `read` reads from the session.
    this.info = NOTHING;
    /** Whole windows of both rows. @type {import("./types.js").RunResult[]} */
    this.runs = [];
    /** The same, cut at the horizon. @type {import("./types.js").RunResult[]} */
    this.cut = [];
    /** @type {import("./types.js").Mark[][]} */
    this.marks = [[], []];
    /** The holder first, then the waiter, then the rest: the order of every list. @type {import("./types.js").TaskInfo[]} */
    this.tasks = [];
    /** @type {import("./types.js").TaskInfo | null} */
    this.holder = null;
    /** @type {import("./types.js").TaskInfo | null} */
    this.waiter = null;
    /** Per row, the first loan to the holder and its end, ns. @type {(number | null)[]} */
    this.boosts = [null, null];
    /** @type {(number | null)[]} */
    this.releases = [null, null];
    /** Zero of the ruler: where the story turns. */
    this.origin = 0;
    /** Answers that need a replay of the run, kept until it changes. @private @type {Map<string, unknown>} */
    this.known = new Map();
    /** Name of the preset or of the file. */
    this.workload = "";
    /** Whether it is a preset. */
    this.isPreset = false;
    this.time = 0;
    /** @type {number | null} */
    this.horizon = null;
    this.playing = false;
    /** Simulated seconds per second. */
    this.speed = 0.01;
    this.view = { from: 0, to: 68 * MS };
    /** Width of the plot, CSS px: sets how much a fresh view holds. */
    this.plotWidth = 812;
    /** @type {[number, number] | null} */
    this.select = null;
    /** Rows hidden until a guess is placed: bit 0 is row a, bit 1 row b. */
    this.cover = 0;
    /** The window whose share is told; the tour asks for others than the boosted one. */
    this.told = "boosted";
    /** Step of the tour that is on, from 0. @type {number | null} */
    this.tour = null;
    /** Changed by hand since it was loaded. */
    this.changed = false;
    /** Tasks were added, removed or renamed: no longer the preset it was. */
    this.reshaped = false;
    /** Whether tasks differ, by how many changes can be taken back. @private */
    this.shapes = [false];
    /** A thumb is held or a key is down: all that one control does until it is let go is one step to undo. @private @type {{ control: string, made: boolean } | null} */
    this.gesture = null;
    /** The variant the switch goes back to. */
    this.variant = "reweight";
    /** @type {{ key: string, values: Record<string, unknown> }[]} */
    this.notices = [];
    /** @type {import("./types.js").Refusal | null} */
    this.refusal = null;
    /** @type {((what: Set<Topic>) => void) | null} */
    this.onchange = null;
    this.suspended = false;
    /** @private */ this.frame = 0;
    /** @private */ this.last = 0;
    /** @private @type {Set<Topic>} */ this.pending = new Set();
    /** @private */ this.telling = 0;
    /** How much is on its way. @private */ this.jobs = 0;
  }

  // ---- what is loaded -------------------------------------------------------------------------

  /**
   * Loads a workload. On a refusal the last good one stays and the refusal is thrown.
   * @param {string} text @param {string} name
   * @param {import("./types.js").SessionOptions} [options] @param {boolean} [isPreset]
   */
  load(text, name, options = {}, isPreset = false) {
    let session;
    try {
      session = new this.wasm.Session(text, name, options);
    } catch (e) {
      this.refusal = /** @type {import("./types.js").Refusal} */ (e);
      this.emit("error", { cause: "workload", ...this.refusal });
      this.touch("notice");
      throw e;
    }
    this.session?.free();
    this.session = session;
    this.workload = name;
    this.isPreset = isPreset;
    this.refusal = null;
    this.changed = false;
    this.reshaped = false;
    this.shapes = [false];
    this.gesture = null;
    this.select = null;
    this.told = "boosted";
    this.cover = 0;
    this.stop();
    this.horizon = null;
    this.read();
    if (this.info.pi !== "stock") this.variant = this.info.pi;
    this.home();
    this.touch("session", "time", "view", "select", "play", "cover", "notice");
  }

  /** @param {string} name @param {import("./types.js").SessionOptions} [options] */
  loadPreset(name, options = {}) {
    const preset = this.presets.find((p) => p.name === name);
    if (!preset) throw { message: `no preset is called ${name}` };
    this.load(preset.text, preset.name, options, true);
  }

  /** Everything derived from the session, read once after each change. */
  read() {
    const s = /** @type {import("./types.js").Session} */ (this.session);
    this.known.clear();
    this.info = s.info();
    this.runs = s.runs();
    this.cut = this.horizon === null ? this.runs : s.runs(this.horizon);
    this.marks = [s.marks(0), s.marks(1)];
    const info = this.info;
    this.holder = info.tasks.find((t) => t.name === info.holder) ?? null;
    this.waiter = info.tasks.find((t) => t.name === info.waiter) ?? null;
    this.boosts = this.marks.map((m) => m.find((k) => k.kind === "boost" && k.task === info.holder)?.at_ns ?? null);
    this.releases = this.marks.map((m, row) => {
      const boost = this.boosts[row];
      return boost === null ? null : (m.find((k) => k.kind === "deboost" && k.task === info.holder && k.at_ns > boost)?.at_ns ?? null);
    });
    const block = this.marks[1].find((k) => k.kind === "block");
    this.origin = this.boosts[1] ?? this.boosts[0] ?? block?.at_ns ?? 0;
    this.time = Math.min(this.time, info.duration_ns);
    this.tasks = [...info.tasks].sort((a, b) => RANK[a.role] - RANK[b.role]);
  }

  /**
   * Asks once: an instant inside a run is found by replaying it, so what was asked is kept until the run changes.
   * @template T @param {string} key @param {() => T} ask @returns {T}
   */
  once(key, ask) {
    if (this.known.size > 400) this.known.clear();
    if (!this.known.has(key)) this.known.set(key, ask());
    return /** @type {T} */ (this.known.get(key));
  }

  /** The run queue of a row at an instant. @param {number} row @param {number} at */
  queue(row, at) {
    return this.once(`queue ${row} ${at}`, () => /** @type {import("./types.js").Session} */ (this.session).queue(row, at));
  }

  /** The decision at or before an instant. @param {number} row @param {number} at */
  why(row, at) {
    return this.once(`why ${row} ${at}`, () => /** @type {import("./types.js").Session} */ (this.session).why(row, at));
  }

  get duration() {
    return this.info.duration_ns;
  }

  // ---- changes --------------------------------------------------------------------------------

  /** When a control acts: from now on while a run is being played, else at the start. */
  get actsAt() {
    return this.horizon === null ? 0 : this.time;
  }

  /**
   * One change of the session. @param {string} control @param {unknown} value
   * @param {(s: import("./types.js").Session, at: number) => void} act
   */
  change(control, value, act) {
    if (!this.session) return;
    const at = this.actsAt;
    act(this.session, at);
    if (this.gesture?.control === control) {
      if (this.gesture.made) this.session.merge_undo();
      this.gesture.made = true;
    }
    const [depth] = this.session.undo_depth();
    if (/^(un|re)do$/.test(control)) this.reshaped = this.shapes[depth] ?? this.reshaped;
    else {
      if (/^(add|remove|rename)-task$|^policy:/.test(control) && at === 0) this.reshaped = true;
      this.shapes[depth] = this.reshaped;
    }
    this.changed = depth > 0;
    const before = this.origin;
    this.read();
    if (this.horizon === null && this.origin !== before) this.follow(this.origin - before);
    this.touch("session", "time");
    this.emit("change", { control, value, time_ns: at });
  }

  /** @param {string} task @param {number} nice */
  setNice(task, nice) {
    if (!Number.isInteger(nice) || nice < -20 || nice > 19) throw { message: `nice of ${task}: expected -20..19, found ${nice}` };
    this.change(`nice:${task}`, nice, (s, at) => s.set_nice(task, nice, at));
  }

  /** @param {string} variant */
  setPi(variant) {
    if (variant !== "stock") this.variant = variant;
    this.change("pi", variant, (s, at) => s.set_pi(variant, at));
  }

  /** The switch: row b between the chosen variant and stock. */
  togglePatch() {
    this.setPi(this.info.pi === "stock" ? this.variant : "stock");
  }

  /** @param {string} task @param {string} policy @param {number} priority */
  setPolicy(task, policy, priority) {
    this.change(`policy:${task}`, policy, (s, at) => s.set_policy(task, policy, priority, at));
  }

  /** @param {string} name */
  setKernel(name) {
    this.change("kernel", name, (s) => s.set_kernel(name));
  }

  /** @param {number} hz */
  setHz(hz) {
    this.change("hz", hz, (s) => s.set_hz(hz));
  }

  /** @param {number} n */
  setCpus(n) {
    this.change("cpus", n, (s) => s.set_cpus_online(n));
  }

  /** Changes that can be taken back, and that can be made again. @returns {[number, number]} */
  get steps() {
    const [back, again] = this.session?.undo_depth() ?? [0, 0];
    return [back, again];
  }

  /** A control's thumb is taken hold of, or a key goes down on it: what it does until it is let go is one step to undo. @param {string} control */
  hold(control) {
    this.gesture = { control, made: false };
  }

  /** @param {string} control whose thumb is let go; another one may already be held */
  letGo(control) {
    if (this.gesture?.control === control) this.gesture = null;
  }

  undo() {
    this.gesture = null;
    if (!this.steps[0]) return;
    this.change("undo", null, (s) => void s.undo());
    if (this.info.pi !== "stock") this.variant = this.info.pi;
  }

  redo() {
    this.gesture = null;
    if (!this.steps[1]) return;
    this.change("redo", null, (s) => void s.redo());
    if (this.info.pi !== "stock") this.variant = this.info.pi;
  }

  /** To the workload as loaded, paused at the start. */
  reset() {
    this.stop();
    this.horizon = null;
    this.reshaped = false;
    this.change("reset", null, (s) => s.reset());
    this.changed = false;
    this.select = null;
    if (this.info.pi !== "stock") this.variant = this.info.pi;
    this.time = 0;
    this.touch("play", "select", "view");
  }

  // ---- the clock ------------------------------------------------------------------------------

  play() {
    if (this.playing || !this.session) return;
    if (this.time >= this.duration) this.time = 0;
    // From rest: start where the picture starts, so that what is watched is what is played.
    if (this.horizon === null && this.view.to < this.duration && this.time > this.view.from) this.time = Math.max(0, this.view.from);
    this.playing = true;
    this.setHorizon(this.time);
    this.show();
    this.last = 0;
    this.touch("play", "time", "view");
    this.emit("change", { control: "play", value: true, time_ns: this.time });
    this.tick();
  }

  pause() {
    if (!this.playing) return;
    this.stop();
    this.touch("play");
    this.emit("change", { control: "play", value: false, time_ns: this.time });
  }

  /** @private */
  stop() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
  }

  /** Out of sight the clock stands. @param {boolean} on */
  suspend(on) {
    if (on === this.suspended) return;
    this.suspended = on;
    this.last = 0;
    if (!on && this.playing) this.tick();
  }

  /** @private */
  tick() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame((now) => {
      if (!this.playing || this.suspended) return;
      const dt = this.last ? Math.min(now - this.last, FRAME_MS) : 0;
      this.last = now;
      this.advance(dt * MS * this.speed);
      if (this.playing) this.tick();
    });
  }

  /** Moves the clock on by simulated ns. @param {number} ns */
  advance(ns) {
    const time = this.time + ns;
    if (time >= this.duration) {
      this.time = this.duration;
      this.stop();
      this.setHorizon(null);
      this.touch("time", "play");
      this.emit("tick", { time_ns: this.time });
      this.emit("change", { control: "play", value: false, time_ns: this.time });
      return;
    }
    this.time = time;
    this.setHorizon(time);
    if (time > this.view.to - 0.04 * this.span || time < this.view.from) {
      const span = this.span;
      this.setView(time - 0.06 * span, time + 0.94 * span);
    }
    this.touch("time");
    this.emit("tick", { time_ns: time });
  }

  /** @private @param {number | null} ns */
  setHorizon(ns) {
    this.horizon = ns;
    if (this.session) this.cut = ns === null ? this.runs : this.session.runs(ns);
  }

  /** Sets the clock; a run that is being played goes on from there. @param {number} ns */
  seek(ns) {
    if (!this.session || !Number.isFinite(ns)) return;
    this.time = Math.max(0, Math.min(ns, this.duration));
    if (this.horizon !== null) this.setHorizon(this.time);
    this.touch("time");
    this.emit("change", { control: "time", value: this.time, time_ns: this.time });
  }

  /** To the next decision of either row, or the one before. @param {1 | -1} [direction] */
  step(direction = 1) {
    const s = this.session;
    if (!s) return;
    this.pause();
    const to =
      direction > 0
        ? Math.min(s.next_decision(0, this.time), s.next_decision(1, this.time))
        : Math.max(s.prev_decision(0, this.time), s.prev_decision(1, this.time));
    this.seek(to);
    this.show();
  }

  /** Lifts the horizon: the whole run is known again. */
  reveal() {
    this.stop();
    this.setHorizon(null);
    this.touch("play", "time");
  }

  // ---- what is looked at ----------------------------------------------------------------------

  get span() {
    return this.view.to - this.view.from;
  }

  /** @param {number} from @param {number} to */
  setView(from, to) {
    const least = 2e4;
    const margin = 0.02 * this.duration + 20 * MS;
    const span = Math.max(least, Math.min(to - from, this.duration + 2 * margin));
    from = Math.max(-margin, Math.min(from, this.duration + margin - span));
    this.view = { from, to: from + span };
    this.touch("view");
  }

  /** Ns a fresh view holds: some 12 px a tick. */
  get freshSpan() {
    const ticks = Math.max(20, Math.min(this.plotWidth / 12, 140));
    return Math.min((ticks * 1e9) / this.info.hz, this.duration * 1.04);
  }

  /** Around the boost, the cursor a little later. */
  home() {
    const span = this.freshSpan;
    this.setView(this.origin - 0.147 * span, this.origin + 0.853 * span);
    const s = /** @type {import("./types.js").Session} */ (this.session);
    this.time = Math.min(s.next_decision(1, this.origin + 0.71 * span), this.duration);
  }

  /** @param {"boost" | "release" | "all"} what */
  look(what) {
    if (what === "all") this.setView(-0.01 * this.duration, 1.01 * this.duration);
    else {
      const at = what === "boost" ? this.origin : (this.releases[1] ?? this.releases[0] ?? this.origin);
      const span = this.freshSpan;
      this.setView(at - 0.147 * span, at + 0.853 * span);
    }
  }

  /** The view keeps its place in the story when a change moves the boost. @private @param {number} by */
  follow(by) {
    this.setView(this.view.from + by, this.view.to + by);
    this.time = Math.max(0, Math.min(this.time + by, this.duration));
  }

  /** Brings the clock into view. */
  show() {
    const { from, to } = this.view;
    if (this.time >= from && this.time <= to) return;
    const span = this.span;
    this.setView(this.time - 0.3 * span, this.time + 0.7 * span);
  }

  /** @param {number} factor below 1 zooms in @param {number} [at] ns that stays in place */
  zoom(factor, at = this.time >= this.view.from && this.time <= this.view.to ? this.time : (this.view.from + this.view.to) / 2) {
    const { from, to } = this.view;
    this.setView(at - (at - from) * factor, at + (to - at) * factor);
  }

  /** @param {number} ns */
  pan(ns) {
    this.setView(this.view.from + ns, this.view.to + ns);
  }

  /** @param {[number, number] | null} range */
  setSelect(range) {
    this.select = range && range[1] > range[0] ? range : null;
    this.touch("select");
  }

  /** @param {number} rows bit 0 row a, bit 1 row b */
  setCover(rows) {
    if (this.cover === rows) return;
    this.cover = rows;
    this.touch("cover");
  }

  /** @param {number} row */
  covered(row) {
    return (this.cover & (1 << row)) !== 0;
  }

  // ---- answers --------------------------------------------------------------------------------

  /**
   * The share that is told for a row: the holder's in the boosted window (`told`); while a run is played and
   * that window has not begun, since the boost, or before it, so far.
   * @param {number} row
   * @returns {{ share: number, kind: "boosted" | "window" | "so-far" | "since-boost" | "before" | "all", from: number, to: number } | null}
   */
  answer(row) {
    const holder = this.holder;
    if (!holder || !this.session) return null;
    const windows = this.cut[row].windows;
    const known = windows.find((w) => w.name === this.told);
    if (known && known.tasks[holder.name]) {
      const whole = this.runs[row].windows.find((w) => w.name === this.told);
      const kind = this.told !== "boosted" ? "window" : whole && known.to_ns < whole.to_ns ? "so-far" : "boosted";
      return { share: known.tasks[holder.name].share, kind, from: known.from_ns, to: known.to_ns };
    }
    const to = this.horizon ?? this.duration;
    const boost = this.boosts[row];
    const from = boost !== null && to > boost ? boost : 0;
    if (to <= from) return null;
    const share = this.session.range(row, from, to).tasks[holder.name]?.share ?? 0;
    return { share, kind: from > 0 ? "since-boost" : this.horizon === null ? "all" : "before", from, to };
  }

  /** @returns {import("./types.js").LabState} */
  state() {
    return {
      format: 1,
      playing: this.playing,
      time_ns: this.time,
      kernel: this.info.kernel,
      hz: this.info.hz,
      holder: this.info.holder,
      workload: this.workload,
      runs: structuredClone(this.cut),
    };
  }

  // ---- being at rest --------------------------------------------------------------------------

  /** Counts as on its way until it ends, well or not. @template T @param {Promise<T>} work @returns {Promise<T>} */
  async during(work) {
    this.jobs++;
    try {
      return await work;
    } finally {
      this.jobs--;
    }
  }

  /** Whether the parts have yet to hear of something, or work is on its way. A clock that runs is no reason: it tells at every frame. */
  get busy() {
    const clock = this.playing && !this.suspended;
    return this.jobs > 0 || (this.telling !== 0 && !clock);
  }

  // ---- telling --------------------------------------------------------------------------------

  /** Notes that something changed; the parts hear of it once, before the next frame. @param {...Topic} what */
  touch(...what) {
    for (const topic of what) this.pending.add(topic);
    if (this.telling) return;
    this.telling = requestAnimationFrame(() => this.flush());
  }

  /** Tells the parts now. */
  flush() {
    cancelAnimationFrame(this.telling);
    this.telling = 0;
    const what = this.pending;
    if (what.size === 0) return;
    this.pending = new Set();
    this.onchange?.(what);
  }

  free() {
    this.stop();
    cancelAnimationFrame(this.telling);
    this.onchange = null;
    this.session?.free();
    this.session = null;
  }
}
