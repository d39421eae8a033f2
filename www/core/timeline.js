/**
 * The timeline of both runs on one clock: its size, the pointer,
 * and the cursor: a slider that says where it stands and what each task does there.
 */
import { el, say } from "./dom.js";
import { paintTimeline } from "./paint-timeline.js";
import { rowName } from "./answers.js";

const STATES = ["running", "ready", "blocked", "sleeping", "ended"];

/** Pixels a pointer moves before a press is a drag. */
const DRAG = 3;

/**
 * @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx
 * @returns {import("./types.js").Part & { stage: HTMLElement, slider: HTMLElement }}
 */
export function timeline(lab, ctx) {
  const { words: w } = ctx;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const slider = el("div", {
    class: "cursor", role: "slider", tabindex: "0", "data-control": "time", "aria-label": w.t("cursor"), "aria-orientation": "horizontal", "aria-valuemin": "0",
    "aria-keyshortcuts": "ArrowLeft ArrowRight Home End Space B R P",
  });
  const tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const cover = el("div", { class: "cover", hidden: true }, w.t(ctx.layout === "projector" ? "hands-up" : "guess-hidden"));
  const stage = el("div", { class: "stage" }, canvas, slider, tip, cover);
  const node = el("div", { class: "tl", role: "group", part: "timeline", "aria-label": w.t("timeline") }, stage);

  /** @type {import("./types.js").Painted} */
  let painted = { height: 0, plot: { x: 0, width: 0 }, tracks: [] };
  let width = 0;
  let height = 0;
  /** @type {number | null} */
  let hover = null;

  /** @param {number} x CSS px from the stage's left */
  const timeAt = (x) => lab.view.from + ((x - painted.plot.x) / (painted.plot.width || 1)) * lab.span;

  function paint() {
    if (!lab.session || width < 1) return;
    const view = {
      ...ctx.paintBase(width, height),
      from_ns: lab.view.from,
      to_ns: lab.view.to,
      origin_ns: lab.origin,
      cursor_ns: lab.time,
      hover_ns: hover,
      select: lab.select,
      played_ns: lab.horizon,
      rows: [0, 1],
      ruler: true,
    };
    painted = paintTimeline(lab, canvas, view);
    // The picture asks for its own height; it is given once, then painted again.
    const need = Math.ceil(painted.height);
    if (Math.abs(need - height) >= 1) {
      height = need;
      stage.style.height = `${need}px`;
      painted = paintTimeline(lab, canvas, { ...view, height });
    }
    if (painted.plot.width) lab.plotWidth = painted.plot.width / ctx.scale;
    ctx.plot = painted.plot;
    const hidden = lab.cover ? painted.tracks.filter((t) => lab.covered(t.row)) : [];
    cover.hidden = hidden.length === 0;
    if (hidden.length) {
      const last = hidden[hidden.length - 1];
      cover.style.top = `${hidden[0].y - 30 * ctx.scale}px`;
      cover.style.height = `${last.y + last.height - hidden[0].y + 34 * ctx.scale}px`;
    }
  }

  function speak() {
    slider.setAttribute("aria-valuemax", String(Math.round(lab.duration / 1e6)));
    slider.setAttribute("aria-valuenow", String(Math.round(lab.time / 1e3) / 1e3));
    slider.setAttribute("aria-valuetext", spoken(lab, w));
  }

  // ---- pointer --------------------------------------------------------------------------------

  /** @type {Map<number, number>} pointer id -> x */
  const down = new Map();
  /** @type {{ x: number, time: number, mode: "press" | "cursor" | "select" | "pan", from: number, to: number } | null} */
  let drag = null;

  /** @param {MouseEvent} e */
  const x = (e) => {
    // On a large screen the projected page is enlarged: back to the picture's own pixels.
    const box = stage.getBoundingClientRect();
    return (e.clientX - box.left) * (stage.offsetWidth / (box.width || 1));
  };

  slider.addEventListener("pointerdown", (e) => {
    if (e.button > 1) return;
    down.set(e.pointerId, x(e));
    if (down.size === 1) drag = { x: x(e), time: timeAt(x(e)), mode: e.button === 1 || e.altKey ? "pan" : e.shiftKey ? "select" : "press", from: lab.view.from, to: lab.view.to };
    else drag = null;
    if (drag?.mode === "press" && e.pointerType === "mouse") lab.seek(drag.time);
    if (e.pointerType === "mouse") slider.setPointerCapture(e.pointerId);
  });

  slider.addEventListener("pointermove", (e) => {
    const at = x(e);
    if (down.size === 2 && down.has(e.pointerId)) return pinch(e.pointerId, at);
    if (!drag) {
      hover = at >= painted.plot.x && at <= painted.plot.x + painted.plot.width ? timeAt(at) : null;
      tip.hidden = hover === null;
      if (hover !== null) {
        say(tip, ctx.clock(hover));
        tip.style.left = `${at}px`;
        tip.style.transform = `translateX(${at > width / 2 ? "-100%" : "0"}) translateX(${at > width / 2 ? -6 : 6}px)`;
      }
      return paint();
    }
    if (drag.mode === "press" && Math.abs(at - drag.x) >= DRAG) {
      drag.mode = "cursor";
      slider.setPointerCapture(e.pointerId);
    }
    if (drag.mode === "cursor") lab.seek(timeAt(at));
    else if (drag.mode === "select") {
      const b = timeAt(at);
      lab.setSelect([Math.max(0, Math.min(drag.time, b)), Math.min(lab.duration, Math.max(drag.time, b))]);
    } else if (drag.mode === "pan") {
      const by = ((at - drag.x) / (painted.plot.width || 1)) * (drag.to - drag.from);
      lab.setView(drag.from - by, drag.to - by);
    }
  });

  /** Two fingers: the points under them stay under them. @param {number} id @param {number} at */
  function pinch(id, at) {
    const [other] = [...down.keys()].filter((k) => k !== id);
    const fixed = /** @type {number} */ (down.get(other));
    const before = /** @type {number} */ (down.get(id)) - fixed;
    const after = at - fixed;
    if (Math.abs(before) > 8 && Math.abs(after) > 8 && before * after > 0) lab.zoom(before / after, timeAt(fixed));
    down.set(id, at);
  }

  /** @param {PointerEvent} e */
  function up(e) {
    if (drag?.mode === "press" && e.type === "pointerup" && e.pointerType !== "mouse") lab.seek(drag.time);
    if (drag?.mode === "select" && Math.abs(x(e) - drag.x) < DRAG) lab.setSelect(null);
    down.delete(e.pointerId);
    if (down.size === 0) drag = null;
  }
  slider.addEventListener("pointerup", up);
  slider.addEventListener("pointercancel", up);
  slider.addEventListener("pointerleave", () => {
    if (hover === null) return;
    hover = null;
    tip.hidden = true;
    paint();
  });
  slider.addEventListener("dblclick", () => lab.look(lab.select ? "boost" : "all"));

  // The wheel belongs to the page, unless the reader is inside and holds Ctrl or the command key.
  /** @param {WheelEvent} e */
  const wheel = (e) => {
    if (!(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    lab.zoom(Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.004), timeAt(x(e)));
  };
  slider.addEventListener("focus", () => stage.addEventListener("wheel", wheel, { passive: false }));
  slider.addEventListener("blur", () => stage.removeEventListener("wheel", wheel));

  const sizes = new ResizeObserver(([entry]) => {
    if (Math.abs(entry.contentRect.width - width) < 0.5) return;
    const first = width === 0;
    width = entry.contentRect.width;
    paint();
    // The first picture is framed for the width it turned out to have.
    if (first && lab.horizon === null && ctx.fresh) {
      lab.home();
      if (ctx.layout !== "embed" && lab.holder && lab.select === null) {
        const ten = 1e10 / lab.info.hz;
        lab.setSelect([lab.origin, lab.origin + Math.max(1, Math.round((0.59 * lab.freshSpan) / ten)) * ten]);
      }
      ctx.fresh = false;
    }
  });
  sizes.observe(stage);

  return {
    node,
    stage,
    slider,
    update(what) {
      paint();
      if (what.has("time") || what.has("session")) speak();
    },
    free: () => sizes.disconnect(),
  };
}

/** Where the cursor stands and what each task does there. @param {import("./lab.js").Lab} lab @param {import("./words.js").Words} w */
export function spoken(lab, w) {
  const s = /** @type {import("./types.js").Session} */ (lab.session);
  const rows = [0, 1].map((row) => {
    const name = rowName(w, row, lab.info.pi);
    if (lab.covered(row)) return `${name}: ${w.t("guess-hidden")}`;
    const tasks = lab.tasks.map((task) => {
      const [, state = 3, lock = -1] = s.segments(row, task.id, lab.time, lab.time + 1);
      return w.t(`says-${STATES[state]}`, { task: task.name, lock: lab.info.locks[lock]?.name ?? "" });
    });
    return `${name}: ${tasks.join(", ")}`;
  });
  return `${when(lab, w, lab.time)}. ${rows.join(". ")}.`;
}

/** @param {import("./lab.js").Lab} lab @param {import("./words.js").Words} w @param {number} t */
export function when(lab, w, t) {
  if (lab.boosts[1] === null && lab.boosts[0] === null) return w.time(t);
  const d = t - lab.origin;
  return w.t(d < 0 ? "before-boost" : "after-boost", { time: w.time(Math.abs(d)) });
}
