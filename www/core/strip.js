/** The whole run in one strip: the holder's share in each window, and the frame that is looked at. */
import { el, set, svg } from "./dom.js";

const HEIGHT = 62;
const FLOOR = 48;

/**
 * @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx
 * @returns {import("./types.js").Part}
 */
export function strip(lab, ctx) {
  const { words: w } = ctx;
  const back = svg("g");
  const now = svg("line", { class: "now", y1: 0, y2: FLOOR });
  const frame = svg("rect", { class: "frame", y: 3, height: FLOOR - 3, rx: 3 });
  const picture = svg("svg", { height: HEIGHT, role: "img" }, back, now, frame);
  const over = el("div", { class: "over" }, picture);
  const spans = el("div", { class: "seg", role: "group", "aria-label": w.t("look-at") },
    /** @type {const} */ (["boost", "release", "all"]).map((what) => el("button", { type: "button", "data-control": `look:${what}`, onclick: () => lab.look(what) }, w.t(`look-${what}`))));
  const zooms = el("div", { class: "seg" },
    el("button", { type: "button", "data-control": "zoom:out", "aria-label": w.t("zoom-out"), onclick: () => lab.zoom(1.6) }, "−"),
    el("button", { type: "button", "data-control": "zoom:in", "aria-label": w.t("zoom-in"), onclick: () => lab.zoom(1 / 1.6) }, "+"));
  const node = el("div", { class: "strip" }, el("div", { class: "strip-tools" }, spans, zooms, el("div", { class: "cap" }, w.t("strip-help"))), over);

  let width = 0;
  let left = 58;
  const right = 24;
  const x = (/** @type {number} */ t) => left + (t / lab.duration) * (width - left - right);

  function draw() {
    if (width < 1) return;
    left = width < 520 ? 16 : (ctx.plot?.x ?? 58);
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const rtl = ctx.rtl;
    const holder = lab.info.holder;
    const shares = [0, 1].map((row) => (lab.covered(row) ? [] : lab.cut[row].windows.filter((v) => holder && v.tasks[holder] && v.name !== "all")));
    const most = Math.max(0.2, ...shares.flat().map((v) => v.tasks[/** @type {string} */ (holder)].share));
    const y = (/** @type {number} */ s) => FLOOR - 4 - (s / most) * (FLOOR - 18);
    /** @type {Node[]} */
    const nodes = [svg("line", { class: "axis", x1: left, x2: width - right, y1: FLOOR, y2: FLOOR })];
    /** @param {number} t @param {string} text @param {string} anchor */
    const tick = (t, text, anchor) => nodes.push(svg("line", { class: "grid", x1: x(t), x2: x(t), y1: 6, y2: FLOOR }), svg("text", { x: x(t), y: HEIGHT - 2, "text-anchor": anchor }, text));
    tick(0, w.t("unit-s", { n: "0" }), "start");
    tick(lab.duration, w.t("unit-s", { n: w.short(lab.duration / 1e9, 2) }), "end");
    const boost = lab.boosts[1] ?? lab.boosts[0];
    const release = lab.releases[1] ?? lab.releases[0];
    const room = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(x(a) - x(b)) > 110;
    if (boost !== null && boost !== undefined && room(boost, 0) && room(boost, lab.duration)) tick(boost, w.t("strip-boost", { time: w.fixed(boost / 1e9, 2) }), "middle");
    if (release !== null && release !== undefined && room(release, boost ?? 0) && room(release, lab.duration)) tick(release, w.t("strip-release", { time: w.fixed(release / 1e9, 2) }), "middle");
    shares.forEach((windows, row) => {
      for (const v of windows) nodes.push(svg("line", { class: row ? "l-b" : "l-a", x1: x(v.from_ns), x2: Math.max(x(v.to_ns), x(v.from_ns) + 2), y1: y(v.tasks[/** @type {string} */ (holder)].share), y2: y(v.tasks[/** @type {string} */ (holder)].share) }));
    });
    const told = shares.map((windows) => windows.find((v) => v.name === "boosted"));
    const texts = told.map((v, row) => v && w.t(row ? "strip-b" : "strip-a", { share: w.percent(v.tasks[/** @type {string} */ (holder)].share, 2), variant: w.t(`short-${lab.info.pi}`) }));
    if (told[0] && x(told[0].to_ns) - x(told[0].from_ns) > 90) {
      nodes.push(svg("text", { class: "t-low", x: (x(told[0].from_ns) + x(told[0].to_ns)) / 2, y: y(told[0].tasks[/** @type {string} */ (holder)].share) - 7, "text-anchor": "middle" }, texts[0]));
    }
    const b = told[1];
    if (b && told[0] && lab.info.pi !== "stock" && Math.abs(b.tasks[/** @type {string} */ (holder)].share - told[0].tasks[/** @type {string} */ (holder)].share) > 0.1 * most) {
      nodes.push(svg("text", { class: "t-low", x: x(b.to_ns) + 8, y: y(b.tasks[/** @type {string} */ (holder)].share) + 4 }, texts[1]));
    }
    set(back, nodes);
    picture.setAttribute("aria-label", w.t("strip-says", { all: texts.filter(Boolean).join("; ") || "–" }));
    void rtl;
    move();
  }

  function move() {
    if (width < 1) return;
    const a = Math.max(left - 4, x(lab.view.from));
    const b = Math.min(width - right + 4, x(lab.view.to));
    const wide = Math.max(14, b - a);
    frame.setAttribute("x", String((a + b) / 2 - wide / 2));
    frame.setAttribute("width", String(wide));
    now.setAttribute("x1", String(x(lab.time)));
    now.setAttribute("x2", String(x(lab.time)));
    for (const [i, what] of /** @type {const} */ (["boost", "release", "all"]).entries()) {
      const at = what === "boost" ? lab.origin : (lab.releases[1] ?? lab.releases[0]);
      const all = lab.span >= lab.duration;
      const on = what === "all" ? all : !all && at !== null && at !== undefined && lab.view.from <= at && at <= lab.view.to;
      spans.children[i].setAttribute("aria-pressed", String(on));
      /** @type {HTMLButtonElement} */ (spans.children[i]).disabled = what === "release" && at === null;
    }
  }

  /** Centres the frame under the pointer. @param {PointerEvent} e */
  const go = (e) => {
    const box = picture.getBoundingClientRect();
    const t = ((e.clientX - box.left - left) / (width - left - right)) * lab.duration;
    lab.setView(t - lab.span / 2, t + lab.span / 2);
  };
  picture.addEventListener("pointerdown", (e) => {
    picture.setPointerCapture(e.pointerId);
    go(e);
  });
  picture.addEventListener("pointermove", (e) => {
    if (e.buttons && picture.hasPointerCapture(e.pointerId)) go(e);
  });

  const sizes = new ResizeObserver(() => {
    const now = picture.getBoundingClientRect().width;
    if (Math.abs(now - width) < 0.5) return;
    width = now;
    draw();
  });
  sizes.observe(over);

  return {
    node,
    update(what) {
      if (what.has("session") || what.has("cover") || what.has("play") || (what.has("time") && lab.horizon !== null)) draw();
      else move();
    },
    free: () => sizes.disconnect(),
  };
}
