/** Guess first: eight questions, each with a guess that may be skipped, the run, and the answer in a line. */
import { el, say, set } from "./dom.js";
import { section } from "./section.js";
import { sources } from "./sources.js";
import { waitOf } from "./wait.js";

/**
 * The steps. The words are `tour-<id>`, `-ask`, `-answer` (one line), `-more` and `-evidence`: what is measured,
 * modelled or opinion. Asked for is the holder's share in `window` of `row`, or, with `waits`, row b's wait as part of
 * row a's. `cover` says which rows would give it away; `inside`, that the picture shows the window and not its beginning.
 * @typedef {{ id: string, preset?: string, row: 0 | 1, window: string, pi: string, cover: number, waits?: boolean, inside?: boolean }} Step
 * @type {Step[]}
 */
export const STEPS = [
  { id: "weights", preset: "patch-test", row: 0, window: "before", pi: "reweight", cover: 3 },
  { id: "loan", preset: "patch-test", row: 0, window: "boosted", pi: "none", cover: 3 },
  { id: "patch", preset: "patch-test", row: 1, window: "boosted", pi: "reweight", cover: 2 },
  { id: "waits", row: 1, window: "boosted", pi: "reweight", cover: 2, waits: true },
  { id: "release", preset: "nested-locks-inner-first", row: 1, window: "one-left", pi: "reweight", cover: 2 },
  { id: "first", preset: "two-waiters-weak-first", row: 1, window: "boosted", pi: "reweight", cover: 2, inside: true },
  { id: "leak", preset: "leak", row: 1, window: "after", pi: "reweight", cover: 2 },
  { id: "merged", preset: "proxy-exec", row: 1, window: "boosted", pi: "proxy-exec", cover: 2 },
];

/** Half a second of work under the lock, so that the wait depends on the share. @param {string} title @param {string} question */
const WORK = (title, question) => JSON.stringify({
  global: { default_policy: "SCHED_OTHER", pi_enabled: true },
  tasks: {
    low: { cpus: [0], policy: "SCHED_OTHER", priority: 10, loop: 1, phases: { hold: { lock: "M", run: 500000, unlock: "M" }, spin: { loop: -1, run: 1000000 } } },
    bg: { cpus: [0], policy: "SCHED_OTHER", priority: 0, loop: 1, phases: { spin: { loop: -1, run: 1000000 } } },
    high: { cpus: [0], policy: "SCHED_OTHER", priority: 0, delay: 50000, loop: 1, phases: { block: { lock: "M", unlock: "M", suspend: "end" } } },
  },
  lab: { title, question, holder: "low", duration: 7000000 },
}, null, 1);

const HANDS = [0, 20, 40, 60, 80];

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @param {import("./view.js").View} view */
export function tour(lab, ctx, view) {
  const { words: w } = ctx;
  const links = sources(w);
  let at = -1;
  let guess = 50;
  let shown = false;
  /** @type {Set<number>} */
  const done = new Set();
  /** Hands counted in the room, by fifth. */
  let hands = [0, 0, 0, 0, 0];

  const list = el("ol");
  const step = el("div", { class: "step", tabindex: "-1" });
  const leave = el("button", { class: "btn plain", type: "button", "data-control": "leave-tour", onclick: stop }, w.t("tour-leave"));
  const node = section("tour", w.t("tour-title"), [leave], el("div", { class: "card tour" }, list, step));
  /** Where the section stands when the tour is not on. @type {Comment} */
  const home = document.createComment("");

  function drawList() {
    set(list, STEPS.map((s, i) => el("li", i === at ? { "aria-current": "step" } : {},
      el("button", { type: "button", "data-control": `tour:${s.id}`, onclick: () => go(i) }, el("span", { class: "i" }, done.has(i) ? "✓" : i + 1, done.has(i) && el("span", { class: "sr" }, ` ${w.t("tour-done")}`)), w.t(`tour-${s.id}`)))));
  }

  /** How long the waiter waits for its lock, ns. @param {number} row */
  const wait = (row) => waitOf(lab.marks[row], lab.waiter?.name);

  /** What the step asks for, 0 to 1. @param {Step} s */
  function truth(s) {
    if (s.waits) return wait(1) / (wait(0) || 1);
    const holder = lab.holder?.name ?? "";
    const windows = lab.runs[s.row].windows;
    return (windows.find((v) => v.name === s.window) ?? windows[0])?.tasks[holder]?.share ?? 0;
  }

  /** @param {number} i */
  function go(i) {
    if (at < 0) begin();
    at = i;
    shown = false;
    guess = 50;
    hands = [0, 0, 0, 0, 0];
    const s = STEPS[i];
    const chosen = { kernel: lab.info.kernel, hz: lab.info.hz, pi: s.pi };
    const load = (/** @type {import("./types.js").SessionOptions} */ options) => {
      if (s.preset) lab.loadPreset(s.preset, options);
      else lab.load(WORK(w.t(`tour-${s.id}`), w.t(`tour-${s.id}-question`)), "half-a-second.json", options);
    };
    try {
      load(chosen);
    } catch {
      // The model refused an option the reader had set: the step goes on with the scenario's own.
      load({ pi: s.pi });
    }
    lab.tour = i;
    lab.told = s.window;
    const asked = lab.runs[s.row].windows.find((v) => v.name === s.window);
    if (asked && (s.inside || s.window !== "boosted")) {
      const middle = (asked.from_ns + asked.to_ns) / 2;
      lab.setView(middle - lab.freshSpan / 2, middle + lab.freshSpan / 2);
      lab.seek(middle);
    }
    lab.setCover(s.cover);
    draw();
    step.focus({ preventScroll: true });
  }

  function begin() {
    node.before(home);
    view.beginTour(node);
  }

  /** Leaves: the tour goes back to its place further down. */
  function stop() {
    at = -1;
    lab.tour = null;
    lab.told = "boosted";
    lab.setCover(0);
    lab.touch("session");
    if (home.isConnected) home.replaceWith(node);
    view.endTour();
    draw();
  }

  function reveal() {
    shown = true;
    done.add(at);
    lab.setCover(0);
    draw();
    /** @type {HTMLElement | null} */ (step.querySelector("[data-control='tour-next']"))?.focus({ preventScroll: true });
  }

  function draw() {
    drawList();
    leave.hidden = at < 0;
    if (at < 0) {
      set(step, el("p", {}, w.t("tour-invite")), el("div", { class: "acts" }, el("button", { class: "btn main", type: "button", "data-control": "tour-start", onclick: () => {
        go(0);
        node.scrollIntoView({ block: "start" });
      } }, w.t("tour-start"))));
      return;
    }
    const s = STEPS[at];
    const head = el("h3", {}, w.t("tour-step", { n: at + 1, all: STEPS.length }), "\u2002", w.t(`tour-${s.id}`));
    const ask = el("p", { id: "tour-ask" }, w.rich(`tour-${s.id}-ask`, values(s)));
    const share = truth(s);
    // In a room the hands are the guess; alone, the slider.
    // Projected, the answer takes the question's place, so that the picture stays in sight.
    set(step, head, ctx.layout === "projector" && shown ? null : ask, ctx.layout !== "projector" && scale(share), shown ? answered(s, share) : open());
    // The picture knows its height once it has been painted.
    lab.flush();
    view.rescale(step);
  }

  /** The line from 0 to 100 % with the guess on it and, once shown, the truth. @param {number} share */
  function scale(share) {
    /** Where a percentage lies: the thumb's middle runs from 9 px inside one end to 9 px inside the other. @param {HTMLElement} e @param {number} n */
    const place = (e, n) => {
      e.style.left = `calc(12px + 9px + (100% - 42px) * ${n / 100})`;
    };
    const said = el("span", { class: "said" });
    const input = el("input", { type: "range", min: 0, max: 100, step: 1, value: guess, "data-control": "guess", "aria-labelledby": "tour-ask", disabled: shown });
    const box = el("div", { class: "guess" }, input, said, el("div", { class: "scale", "aria-hidden": "true" }, [0, 25, 50, 75, 100].map((n) => {
      const mark = el("span", {}, n === 100 ? w.t("percent", { n }) : n);
      place(mark, n);
      return mark;
    })));
    const follow = () => {
      guess = input.valueAsNumber;
      place(said, guess);
      say(said, w.t(shown ? "tour-said" : "tour-guess", { n: guess }));
      input.setAttribute("aria-valuetext", w.t("percent", { n: guess }));
    };
    input.addEventListener("input", follow);
    follow();
    if (shown) {
      const p = share * 100;
      const gap = el("span", { class: "gap" });
      place(gap, Math.min(p, guess));
      gap.style.width = `calc((100% - 42px) * ${Math.abs(p - guess) / 100})`;
      const dot = el("span", { class: "truth" });
      place(dot, p);
      const label = el("span", { class: "said b" }, w.t(STEPS[at].waits ? "tour-takes" : "tour-gets", { n: w.percent(share) }));
      place(label, p);
      // Side by side, never on top of each other; and never over the edge.
      const before = p <= guess;
      label.classList.add(p < 12 ? "right" : p > 88 ? "left" : before ? "left" : "right");
      said.classList.add(p < 12 && guess < 40 ? "right" : before ? "right" : "left");
      if (p < 12 && guess < 40) said.hidden = true;
      if (p > 88 && guess > 60) said.hidden = true;
      box.append(gap, dot, label);
    }
    return box;
  }

  function open() {
    return [
      el("div", { class: "acts" },
        ctx.layout === "projector" && tally(),
        el("button", { class: "btn main", type: "button", "data-control": "tour-show", onclick: reveal }, w.t("tour-show")),
        el("button", { class: "btn plain", type: "button", "data-control": "tour-skip", onclick: () => (at + 1 < STEPS.length ? go(at + 1) : stop()) }, w.t("tour-skip")))];
  }

  /** Guesses of a room by show of hands, counted on the spot. */
  function tally() {
    const heard = el("span", { class: "sr", role: "status" });
    const buttons = HANDS.map((from, i) => {
      const count = el("b", {}, hands[i]);
      return el("button", { class: "btn", type: "button", "data-control": `hands:${from}`, "aria-label": w.t("hands-between", { from, to: from + 20 }), title: w.t("hands-less"), onclick: (/** @type {MouseEvent} */ e) => {
        hands[i] = Math.max(0, hands[i] + (e.shiftKey ? -1 : 1));
        say(count, String(hands[i]));
        say(heard, w.t("hands-now", { n: hands[i], from, to: from + 20 }));
      } }, count, w.t("hands-range", { from, to: from + 20 }));
    });
    return el("div", { class: "tally", role: "group", "aria-label": w.t("hands") }, buttons, heard);
  }

  /** Numbers that stand in the words. @param {Step} s @returns {Record<string, string>} */
  const values = (s) => (s.waits ? { stock: w.time(Math.round(wait(0) / 1e6) * 1e6), patched: w.time(Math.round(wait(1) / 1e6) * 1e6) } : {});

  /** @param {Step} s @param {number} share */
  function answered(s, share) {
    const next = STEPS[at + 1];
    const counted = hands.reduce((a, b) => a + b, 0);
    const right = hands[Math.min(4, Math.floor(share * 5))];
    return [
      el("p", { class: "verdict" }, w.rich(`tour-${s.id}-answer`, { share: w.percent(share), ...values(s) })),
      ctx.layout !== "projector" && el("p", { class: "small muted" }, w.rich(`tour-${s.id}-more`)),
      el("p", { class: "small muted evidence" }, w.rich(`tour-${s.id}-evidence`, links)),
      counted > 0 && el("p", { class: "small muted" }, w.t("hands-counted", { right, all: counted })),
      el("div", { class: "acts" },
        el("button", { class: "btn main", type: "button", "data-control": "tour-next", onclick: () => (next ? go(at + 1) : stop()) }, next ? w.t("tour-next", { title: w.t(`tour-${next.id}`) }) : w.t("tour-end")),
        el("button", { class: "btn", type: "button", "data-control": "tour-again", onclick: () => go(at) }, w.t("tour-again")),
        el("button", { class: "btn plain", type: "button", "data-control": "tour-timeline", onclick: () => showIt(s) }, w.t("tour-timeline")))];
  }

  /** @param {Step} s */
  function showIt(s) {
    const v = lab.runs[s.row].windows.find((x) => x.name === s.window);
    if (!v) return;
    const middle = (v.from_ns + v.to_ns) / 2;
    lab.setView(middle - lab.freshSpan / 2, middle + lab.freshSpan / 2);
    lab.seek(middle);
    view.timeline?.slider.focus({ preventScroll: false });
  }

  draw();
  return { node, update() {}, go, stop, get at() { return at; } };
}
