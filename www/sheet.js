/**
 * Sheets to print: the timeline of a scenario, blank and solved, or exercises from a seed with their key.
 *
 *   sheet.html?preset=patch-test&low-nice=15   as the lab's own address
 *   sheet.html?seed=42                         six exercises; the same seed, the same exercises
 *   key=0                                      without the solution
 */
import { text } from "./core/assets.js";
import { el, set } from "./core/dom.js";
import { exercises } from "./core/exercises.js";
import { Lab } from "./core/lab.js";
import { applyLink, lookAt, readLink } from "./core/link.js";
import { load } from "./core/load.js";
import { paintTimeline } from "./core/paint-timeline.js";
import { svgOf } from "./core/svg.js";
import { Theme } from "./core/theme.js";
import { LANGUAGES, Words } from "./core/words.js";

/** A page's width inside its margins, as painted. */
const WIDTH = 996;

const MOST_SEED = 999999;

const query = new URLSearchParams(location.search);
const main = /** @type {HTMLElement} */ (document.querySelector("#sheets"));

/** @param {string} lang */
async function wordsOf(lang) {
  const [words, more] = await Promise.all([text(`${lang}.json`), text(`${lang}.sheet.json`)]);
  return new Words(lang, { ...JSON.parse(words), ...JSON.parse(more) });
}

/** @param {Words} w @param {string} title @param {string} id @param {...unknown} rest */
const page = (w, title, id, ...rest) => el("section", { class: "page", "aria-labelledby": id, id: `page-${id}` }, el("header", {}, el("h1", { id }, title), !/key|solved/.test(id) && el("span", { class: "name" }, w.t("sheet-name"), " ", el("span", { class: "blank" }))), rest);

async function start() {
  const lang = query.get("lang") ?? "en";
  const w = await wordsOf(LANGUAGES.includes(lang) ? lang : "en");
  document.documentElement.lang = w.lang;
  document.title = w.t("sheet-title");
  const wasm = await load();
  const lab = new Lab(wasm, () => {});
  const seeded = query.has("seed");
  /** @type {{ key: string, values: Record<string, unknown> }[]} */
  const notes = [];
  const note = (/** @type {string} */ key, /** @type {Record<string, unknown>} */ values) => void notes.push({ key, values });
  const pages = seeded ? exercisePages(w, wasm, note) : await timelinePages(w, lab, note);
  set(main, tools(w, lab, seeded), notes.map((n) => el("p", { class: "note", role: "status" }, w.rich(n.key, n.values))), query.get("key") === "0" ? pages.slice(0, 1) : pages);
  document.documentElement.dataset.ready = "";
}

/** What is chosen above the sheets; not printed. @param {Words} w @param {Lab} lab @param {boolean} seeded */
function tools(w, lab, seeded) {
  const go = (/** @type {Record<string, string | null>} */ change) => {
    const next = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(change)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    location.search = next.toString();
  };
  const seed = el("input", { type: "number", min: 0, max: MOST_SEED, value: seeded ? query.get("seed") : 1, "data-control": "seed" });
  const scenario = el("select", { "data-control": "preset", onchange: () => go({ preset: scenario.value, seed: null, w: null, controls: null, at: null, view: null }) },
    seeded && el("option", { value: "", selected: true }, "–"),
    lab.presets.map((p) => el("option", { value: p.name, selected: !seeded && p.name === lab.workload }, w.has(`preset-${p.name}`) ? w.t(`preset-${p.name}`) : p.title)));
  const key = el("select", { "data-control": "key", onchange: () => go({ key: key.value === "1" ? null : "0" }) }, [["1", "sheet-with-key"], ["0", "sheet-without-key"]].map(([value, id]) => el("option", { value, selected: (query.get("key") === "0") === (value === "0") }, w.t(id))));
  return el("div", { class: "tools", role: "group", "aria-label": w.t("controls") },
    el("p", {}, w.t("sheet-about")),
    el("label", {}, w.t("scenario"), scenario),
    el("label", {}, w.t("sheet-seed"), seed),
    el("button", { type: "button", "data-control": "make", onclick: () => go({ seed: String(Math.max(0, Math.min(MOST_SEED, Math.round(seed.valueAsNumber) || 0))), preset: null, w: null, controls: null }) }, w.t("sheet-make")),
    el("label", {}, w.t("sheet-key"), key),
    el("button", { class: "main", type: "button", "data-control": "print", onclick: () => print() }, w.t("sheet-print")),
    el("a", { href: `./${seeded ? "" : location.search}` }, w.t("open-lab")));
}

/** @param {Words} w @param {import("./core/types.js").Wasm} wasm @param {(key: string, values: Record<string, unknown>) => void} note */
function exercisePages(w, wasm, note) {
  const asked = query.get("seed") ?? "";
  const seed = /^\d{1,6}$/.test(asked) ? Number(asked) : 1;
  if (String(seed) !== asked) note("bad-value", { setting: `seed=${asked}`.slice(0, 80) });
  const say = { percent: (/** @type {number} */ s) => w.t("percent", { n: w.percent(s) }), time: (/** @type {number} */ ns) => w.time(Math.round(ns / 1e6) * 1e6) };
  const all = exercises(seed, wasm, say);
  const signed = (/** @type {Record<string, string | number>} */ values) => Object.fromEntries(Object.entries(values).map(([k, v]) => [k, typeof v === "number" ? w.int(v) : v]));
  const ask = (/** @type {typeof all[0]} */ e) => w.rich(`ex-${e.id}`, signed(e.values));
  return [
    page(w, w.t("ex-title", { seed }), "exercises", el("p", {}, w.rich("ex-lead")), el("ol", {}, all.map((e) => el("li", { "data-exercise": e.id }, el("p", {}, ask(e)), el("div", { class: "lines" }))))),
    page(w, w.t("ex-key-title", { seed }), "key", el("ol", {}, all.map((e) => el("li", { "data-answer": e.id }, el("p", { class: "small" }, ask(e)), el("p", { class: "answer" }, w.rich(`ex-${e.id}-answer`, { ...signed(e.values), ...signed(e.answer) }))))), el("p", { class: "small" }, w.t("ex-model"))),
  ];
}

/** @param {Words} w @param {Lab} lab @param {(key: string, values: Record<string, unknown>) => void} note */
async function timelinePages(w, lab, note) {
  // The address is the lab's: its start values arrive as attributes of this stand-in.
  const host = document.createElement("i");
  const wanted = await readLink(host, note);
  document.documentElement.lang = w.lang;
  open(lab, host, wanted, note);
  applyLink(lab, wanted, note);
  lab.plotWidth = 700;
  lab.home();
  lookAt(lab, wanted);
  const { info } = lab;
  const theme = new Theme(/** @type {any} */ (document.body), () => {});
  const labels = Object.fromEntries(Object.entries(w.table).filter(([k]) => k.startsWith("paint-")).map(([k, v]) => [k.slice(6).replaceAll("-", "_"), v]));
  const base = { width: WIDTH, height: 0, dpr: 1, scale: 1, rtl: false, decimal: w.decimal, labels, ...theme.read() };
  const picture = (/** @type {boolean} */ solved) => {
    const svg = svgOf((canvas) => {
      const painted = paintTimeline(lab, canvas, { ...base, from_ns: lab.view.from, to_ns: lab.view.to, origin_ns: lab.origin, cursor_ns: NaN, hover_ns: null, select: null, played_ns: solved ? null : 0, rows: [0, 1], ruler: true });
      const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
      g.strokeStyle = base.colors.rule;
      g.lineWidth = 1;
      if (!solved) for (const t of painted.tracks) g.strokeRect(painted.plot.x, t.y + 3, painted.plot.width, t.height - 6);
      return painted;
    }, { width: WIDTH, title: w.t(solved ? "sheet-solved" : "sheet-blank"), ground: "#fff" });
    return document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  };
  const holder = lab.holder?.name ?? "";
  const names = ["stock", info.pi].map((pi, row) => (row ? w.t(w.has(`row-b-${pi}`) ? `row-b-${pi}` : "row-b") : w.t("row-stock")));
  const title = lab.isPreset && w.has(`preset-${lab.workload}`) ? w.t(`preset-${lab.workload}`) : info.title || lab.workload;
  const question = lab.isPreset && w.has(`preset-${lab.workload}-question`) ? w.t(`preset-${lab.workload}-question`, { holder, waiter: lab.waiter?.name ?? "" }) : info.question;
  const tasks = () => el("table", {}, el("thead", {}, el("tr", {}, ["task", "policy", "nice-or-prio"].map((k, i) => el("th", { scope: "col", class: i === 2 ? "num" : null }, w.t(k))))),
    el("tbody", {}, lab.tasks.map((t) => el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, t.name)), el("td", {}, t.policy), el("td", { class: "num" }, /FIFO|RR/.test(t.policy) ? t.rt_priority : w.int(t.nice))))));
  const machine = () => el("p", { class: "small" }, w.t("sheet-machine", { kernel: info.kernel, hz: info.hz }));
  const shares = (/** @type {boolean} */ solved) => el("table", {}, el("tbody", {}, names.map((name, row) => el("tr", {}, el("th", { scope: "row" }, w.t("sheet-share", { row: name, task: holder })),
    el("td", { class: "num", "data-sheet-share": solved ? String(lab.answer(row)?.share ?? "") : null }, solved ? (lab.answer(row) ? w.t("percent", { n: w.percent(/** @type {any} */ (lab.answer(row)).share) }) : "–") : el("span", { class: "blank" }))))));
  const one = (/** @type {boolean} */ solved) => page(w, solved ? `${title}: ${w.t("sheet-solved")}` : title, solved ? "solved" : "blank",
    el("p", {}, question), tasks(), machine(), !solved && el("p", {}, w.t("sheet-draw", { top: names[0], bottom: names[1] })), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": w.t("timeline") }, picture(solved)), holder && shares(solved), solved && el("p", { class: "small" }, w.t("sheet-marks")));
  return [one(false), one(true)];
}

/** @param {Lab} lab @param {Element} host @param {import("./core/link.js").Wanted} wanted @param {(key: string, values: Record<string, unknown>) => void} note */
function open(lab, host, wanted, note) {
  if (wanted.workload !== undefined) {
    try {
      return lab.load(wanted.workload, "workload.json");
    } catch (e) {
      note("refused", { message: /** @type {any} */ (e)?.message ?? String(e) });
    }
  }
  /** @type {import("./core/types.js").SessionOptions} */
  const options = {};
  const named = host.getAttribute("preset") ?? "patch-test";
  const known = lab.presets.some((p) => p.name === named);
  if (!known) note("bad-preset", { setting: `preset=${named}`.slice(0, 80), used: "patch-test" });
  const preset = known ? named : "patch-test";
  lab.loadPreset(preset, {});
  // One by one, so that a bad value is said and the rest is kept.
  for (const { name, value } of host.attributes) {
    const trial = { ...options };
    if (name === "kernel" || name === "pi") trial[name] = value;
    else if (name === "hz") trial.hz = Number(value);
    else if (name === "cpus-online") trial.cpus_online = Number(value);
    else if (name.endsWith("-nice")) trial.nice = { ...options.nice, [name.slice(0, -5)]: Number(value) };
    else continue;
    try {
      lab.loadPreset(preset, trial);
      Object.assign(options, trial);
    } catch (e) {
      note("bad-setting", { setting: `${name}=${value}`.slice(0, 80), message: /** @type {any} */ (e)?.message ?? String(e) });
    }
  }
  lab.loadPreset(preset, options);
}

start().catch((e) => {
  main.textContent = `The sheets could not be made: ${e?.message ?? e}`;
});
