/** Guess first: eight questions, each with a guess that may be skipped, the run, and the answer in a line. */
import { el, say, set } from "./dom.js";
import { section } from "./section.js";

/**
 * The steps. `row` and `window` say which share is asked for; the words are `tour-<id>`, `-ask`, `-answer`.
 * `plain` runs show the same in both rows, so both are covered.
 * @type {{ id: string, preset: string, row: 0 | 1, window: string, pi?: string }[]}
 */
export const STEPS = [
  { id: "weights", preset: "patch-test", row: 0, window: "before" },
  { id: "inversion", preset: "plain-mutex", row: 0, window: "boosted" },
  { id: "loan", preset: "patch-test", row: 0, window: "boosted" },
  { id: "patch", preset: "patch-test", row: 1, window: "boosted", pi: "reweight" },
  { id: "release", preset: "nested-locks-inner-first", row: 1, window: "one-left", pi: "reweight" },
  { id: "waiter", preset: "waiter-m10", row: 1, window: "boosted", pi: "reweight" },
  { id: "first", preset: "two-waiters-weak-first", row: 1, window: "boosted", pi: "reweight" },
  { id: "leak", preset: "leak", row: 1, window: "after", pi: "reweight" },
];

const HANDS = [0, 20, 40, 60, 80];

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @param {import("./view.js").View} view */
export function tour(lab, ctx, view) {
  const { words: w } = ctx;
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

  /** The share the step asks for. @param {typeof STEPS[0]} s */
  function truth(s) {
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
    try {
      lab.loadPreset(s.preset, { kernel: lab.info.kernel, hz: lab.info.hz, ...(s.pi ? { pi: s.pi } : { pi: "reweight" }) });
    } catch {
      // The model refused an option the reader had set: the step goes on with the preset's own.
      lab.loadPreset(s.preset);
    }
    lab.told = s.window;
    const asked = lab.runs[s.row].windows.find((v) => v.name === s.window);
    if (asked && s.window !== "boosted") {
      const middle = (asked.from_ns + asked.to_ns) / 2;
      lab.setView(middle - lab.freshSpan / 2, middle + lab.freshSpan / 2);
      lab.seek(middle);
    }
    // What is asked for in the stock run would be read off the other one.
    lab.setCover(s.row === 0 ? 3 : 2);
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
    const ask = el("p", { id: "tour-ask" }, w.rich(`tour-${s.id}-ask`));
    const share = truth(s);
    // In a room the hands are the guess; alone, the slider.
    set(step, head, ask, ctx.layout !== "projector" && scale(share), shown ? answered(s, share) : open());
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
      const label = el("span", { class: "said b" }, w.t("tour-gets", { n: w.percent(share) }));
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
    const buttons = HANDS.map((from, i) => {
      const count = el("b", {}, hands[i]);
      return el("button", { class: "btn", type: "button", "data-control": `hands:${from}`, "aria-label": w.t("hands-between", { from, to: from + 20 }), onclick: () => {
        hands[i]++;
        say(count, String(hands[i]));
      } }, count, w.t("hands-range", { from, to: from + 20 }));
    });
    return el("div", { class: "tally", role: "group", "aria-label": w.t("hands") }, buttons);
  }

  /** @param {typeof STEPS[0]} s @param {number} share */
  function answered(s, share) {
    const next = STEPS[at + 1];
    const counted = hands.reduce((a, b) => a + b, 0);
    const right = hands[Math.min(4, Math.floor(share * 5))];
    return [
      el("p", { class: "verdict" }, w.rich(`tour-${s.id}-answer`, { share: w.percent(share) })),
      counted > 0 && el("p", { class: "small muted" }, w.t("hands-counted", { right, all: counted })),
      el("div", { class: "acts" },
        el("button", { class: "btn main", type: "button", "data-control": "tour-next", onclick: () => (next ? go(at + 1) : stop()) }, next ? w.t("tour-next", { title: w.t(`tour-${next.id}`) }) : w.t("tour-end")),
        el("button", { class: "btn", type: "button", "data-control": "tour-again", onclick: () => go(at) }, w.t("tour-again")),
        el("button", { class: "btn plain", type: "button", "data-control": "tour-timeline", onclick: () => showIt(s) }, w.t("tour-timeline")))];
  }

  /** @param {typeof STEPS[0]} s */
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
