/** What the reader moves: nice of each task, the transport, and the settings. Controls are ink; tasks lend their hue to the thumb. */
import { el, icon, say, set, taskName } from "./dom.js";

const SPEEDS = [0.001, 0.01, 0.1, 1, 10];
const HZ = [100, 250, 300, 1000];
const CPUS = [1, 2, 4, 8, 16];

/**
 * @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx
 * @param {{ full: boolean, words?: boolean }} shape
 * @returns {import("./types.js").Part & { transport: Element }}
 */
export function controls(lab, ctx, shape) {
  const { words: w } = ctx;
  const list = el("div", { class: "nices" });
  /** @type {Map<string, ReturnType<typeof nice>>} */
  let nices = new Map();

  /** @param {import("./types.js").TaskInfo} task */
  function nice(task) {
    const id = `nice-${task.id}`;
    const control = `nice:${task.name}`;
    const range = el("input", { type: "range", id, min: -20, max: 19, step: 1, "data-control": control });
    const number = el("input", { type: "number", min: -20, max: 19, step: 1, "data-control": `nice-number:${task.name}`, "aria-label": w.t("nice-of", { task: task.name }) });
    const weight = el("span", { class: "w" });
    const does = el("span", { class: "muted" });
    const act = (/** @type {number} */ n) => ctx.attempt(() => lab.setNice(task.name, n));
    range.addEventListener("pointerdown", () => {
      ctx.dragging = true;
      lab.hold(control);
    });
    range.addEventListener("keydown", (e) => {
      if (!e.repeat) lab.hold(control);
    });
    range.addEventListener("input", () => act(range.valueAsNumber));
    // One drag is one step to undo, as is a key held down; and the numbers may move again.
    for (const end of ["pointerup", "pointercancel", "keyup", "blur"]) {
      range.addEventListener(end, () => {
        ctx.dragging = false;
        lab.letGo(control);
      });
    }
    number.addEventListener("change", () => {
      const n = number.valueAsNumber;
      if (Number.isInteger(n) && n >= -20 && n <= 19) act(n);
      else {
        ctx.tell("bad-nice", { task: task.name, value: number.value || "–" });
        number.value = range.value;
      }
    });
    const node = el("div", { class: `nice ${task.role}`, part: "nice" },
      el("div", { class: "nice-h" }, el("label", { for: id }, taskName(task), " ", does), el("span", { class: "nice-v" }, weight, w.t("nice"), number)), range);
    return { node, range, number, weight, does, role: task.role };
  }

  function drawNices() {
    const tasks = shape.full ? lab.tasks : lab.tasks.filter((t) => t.role === "holder");
    if (tasks.length !== nices.size || tasks.some((t) => nices.get(t.name)?.role !== t.role)) {
      nices = new Map(tasks.map((t) => [t.name, nice(t)]));
      set(list, [...nices.values()].map((n) => n.node));
    }
    for (const t of tasks) {
      const n = /** @type {ReturnType<typeof nice>} */ (nices.get(t.name));
      const value = String(niceNow(lab, t));
      if (n.range.value !== value) n.range.value = value;
      // Written when it changed, not over what is being typed.
      if (n.number.dataset.told !== value) n.number.value = n.number.dataset.told = value;
      const weight = t.policy === "SCHED_IDLE" ? 3 : WEIGHTS[Number(value) + 20];
      const fair = !/FIFO|RR|DEADLINE/.test(t.policy);
      say(n.weight, fair ? w.t("weight", { weight }) : `${t.policy} ${t.rt_priority}`);
      n.range.setAttribute("aria-valuetext", w.t("nice-says", { nice: value, weight }));
      const lock = lab.info.locks[0]?.name ?? "";
      say(n.does, shape.full ? w.t(`does-${t.role}`, { lock }) : "");
    }
  }

  /** @param {"start" | "back" | "play" | "step" | "reset" | "undo" | "redo"} name @param {() => void} act @param {string} [kind] */
  const button = (name, act, kind = "") => el("button", { class: `btn ${kind}`, type: "button", "data-control": name, "aria-label": w.t(name), title: w.t(name), onclick: act }, icon(name), shape.words && el("span", { "aria-hidden": "true" }, w.t(`brief-${name}`)));
  const play = button("play", () => (lab.playing ? lab.pause() : lab.play()), "main");
  const pauseIcon = icon("pause");
  const playIcon = /** @type {SVGElement} */ (play.firstElementChild);
  // Not `disabled`: a button that goes away under the finger would take the focus with it.
  const undo = button("undo", () => ctx.attempt(() => lab.undo()));
  const redo = button("redo", () => ctx.attempt(() => lab.redo()));
  const settings = el("button", { class: "btn settings", type: "button", "aria-expanded": "false", onclick: () => {
    const open = fields.classList.toggle("open");
    settings.setAttribute("aria-expanded", String(open));
  } }, w.t("settings"));
  const transport = el("div", { class: "transport", role: "group", "aria-label": w.t("transport") },
    shape.full && button("start", () => lab.seek(0)),
    shape.full && button("back", () => lab.step(-1)),
    play,
    button("step", () => lab.step(1)),
    button("reset", () => ctx.attempt(() => lab.reset())),
    shape.full && settings);

  // ---- settings -------------------------------------------------------------------------------

  /** @param {string} control @param {string} label @param {(value: string) => void} act */
  function field(control, label, act) {
    const select = el("select", { "data-control": control });
    select.addEventListener("change", () => ctx.attempt(() => act(select.value)));
    return { select, node: el("label", { class: "field" }, label, select) };
  }
  const scenario = field("preset", w.t("scenario"), (v) => ctx.openPreset(v));
  const variant = field("variant", w.t("variant"), (v) => lab.setPi(v));
  const kernel = field("kernel", w.t("kernel"), (v) => lab.setKernel(v));
  const hz = field("hz", "HZ", (v) => lab.setHz(Number(v)));
  const cpus = field("cpus", w.t("online-cpus"), (v) => lab.setCpus(Number(v)));
  const speed = field("speed", w.t("speed"), (v) => {
    lab.speed = Number(v);
  });
  set(speed.select, SPEEDS.map((s) => el("option", { value: s, selected: s === lab.speed }, s < 1 ? `1/${w.int(1 / s)}` : `${w.int(s)} ×`)));
  const clock = el("span", { class: "clock" });
  const fields = el("div", { class: "fields" }, scenario.node, variant.node, kernel.node, hz.node, cpus.node, speed.node, shape.full && ctx.extraFields(), el("div", { class: "transport" }, undo, redo), clock);

  /** @param {HTMLSelectElement} select @param {(string | number)[]} values @param {string | number} value @param {(v: string | number) => string} label */
  function choose(select, values, value, label) {
    const all = values.includes(value) ? values : [...values, value];
    const wanted = all.join("|");
    if (select.dataset.values !== wanted) {
      set(select, all.map((v) => el("option", { value: v }, label(v))));
      select.dataset.values = wanted;
    }
    if (select.value !== String(value)) select.value = String(value);
  }

  function drawFields() {
    const info = lab.info;
    choose(scenario.select, lab.presets.map((p) => p.name), lab.workload, (v) => {
      const preset = lab.presets.find((p) => p.name === v);
      return w.has(`preset-${v}`) ? w.t(`preset-${v}`) : (preset?.title ?? String(v));
    });
    choose(variant.select, info.variants, info.pi, (v) => (w.has(`pi-${v}`) ? w.t(`pi-${v}`) : String(v)));
    choose(kernel.select, info.kernels.map((k) => k.name), info.kernel, (v) => {
      const k = info.kernels.find((x) => x.name === v);
      return w.t(k?.from_patches ? "kernel-from-patches" : "kernel-named", { name: v, class: Number(String(v).split(".")[1]) < 6 && String(v).startsWith("6.") ? "CFS" : "EEVDF" });
    });
    choose(hz.select, HZ, info.hz, String);
    choose(cpus.select, CPUS, info.cpus_online, String);
  }

  const node = el("section", { class: "card ctl", part: "controls", "aria-label": w.t("controls") }, list, transport, shape.full ? fields : ctx.embedActions());
  return {
    node,
    transport,
    update(what) {
      if (what.has("session") || (what.has("time") && lab.horizon !== null)) drawNices();
      if (what.has("session") && shape.full) {
        drawFields();
        [undo, redo].forEach((b, i) => b.setAttribute("aria-disabled", String(lab.steps[i] === 0)));
      }
      if (what.has("play")) {
        play.firstElementChild?.replaceWith(lab.playing ? pauseIcon : playIcon);
        if (shape.words) say(/** @type {Element} */ (play.lastElementChild), w.t(lab.playing ? "pause" : "brief-play"));
        play.setAttribute("aria-label", w.t(lab.playing ? "pause" : "play"));
        play.title = w.t(lab.playing ? "pause" : "play");
      }
      if (what.has("time") || what.has("session")) set(clock, el("b", {}, w.t("unit-s", { n: w.fixed(lab.time / 1e9, 5) })), " ", el("span", { class: "muted" }, w.t("of-time", { time: w.t("unit-s", { n: w.short(lab.duration / 1e9, 2) }) })));
    },
  };
}

/** A task's nice at the clock: while a run is played, the last control that has acted. @param {import("./lab.js").Lab} lab @param {import("./types.js").TaskInfo} task */
export function niceNow(lab, task) {
  let nice = task.nice;
  for (const edit of lab.info.edits) if (edit.task === task.name && edit.nice !== undefined && edit.at_ns <= (lab.horizon ?? 0)) nice = edit.nice;
  return nice;
}

/** sched_prio_to_weight, nice -20 to 19; for labels while a thumb moves. */
const WEIGHTS = [
  88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
  1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];
