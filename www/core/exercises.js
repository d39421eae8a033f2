/**
 * Exercises from a seed: the same seed gives the same exercises, and every answer is the model's.
 * A kind says what is asked (message ids `ex-<id>`, `ex-<id>-answer`) and which runs answer it.
 */

import { waitOf } from "./wait.js";

/** @typedef {import("./types.js").SessionOptions} Options */
/** @typedef {{ id: string, values: Record<string, string | number>, answer: Record<string, string | number> }} Exercise */

/**
 * Chance that can be repeated: a counter put through a mixing function (32 bits). @param {number} seed
 * @returns {(from: number, to: number) => number} whole numbers, both ends included
 */
export function dice(seed) {
  let state = seed >>> 0;
  return (from, to) => {
    state = (state + 0x9e3779b9) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    x = (x ^ (x >>> 16)) >>> 0;
    return from + (x % (to - from + 1));
  };
}

/**
 * Runs a scenario and asks it. @template T @param {import("./types.js").Wasm} wasm @param {string} text @param {Options} options
 * @param {(s: import("./types.js").Session) => T} ask @returns {T}
 */
function ask(wasm, text, options, ask) {
  const session = new wasm.Session(text, "exercise.json", options);
  try {
    return ask(session);
  } finally {
    session.free();
  }
}

/** A task that does nothing but compute. @param {number} nice */
const spins = (nice) => ({ cpus: [0], policy: "SCHED_OTHER", priority: nice, loop: 1, phases: { spin: { loop: -1, run: 1000000 } } });

/** Comes after a while, waits for M, and is gone once it had it. @param {number} nice @param {number} after µs */
const waits = (nice, after) => ({ cpus: [0], policy: "SCHED_OTHER", priority: nice, delay: after, loop: 1, phases: { block: { lock: "M", unlock: "M", suspend: "end" } } });

/** Holds M for a time (`runtime`) or for some work (`run`), then spins. @param {number} nice @param {object} hold */
const holds = (nice, hold) => ({ cpus: [0], policy: "SCHED_OTHER", priority: nice, loop: 1, phases: { hold: { lock: "M", ...hold, unlock: "M" }, spin: { loop: -1, run: 1000000 } } });

/** @param {object} tasks @param {object} lab */
const workload = (tasks, lab) => JSON.stringify({ global: { default_policy: "SCHED_OTHER", pi_enabled: true }, tasks, lab: { holder: "low", kernel: "6.12", hz: 1000, ...lab } });

const WINDOWS = { duration: 9000000, windows: [{ name: "before", from: 500000, to: 1500000 }, { name: "boosted", from: 3000000, to: 8000000 }] };

/** @param {import("./types.js").Session} s @param {0 | 1} row @param {string} window @param {string} task */
const share = (s, row, window, task) => s.runs()[row].windows.find((w) => w.name === window)?.tasks[task]?.share ?? 0;

/** Words that numbers become. @typedef {{ percent: (share: number) => string, time: (ns: number) => string }} Say */

/** @type {Record<string, (roll: ReturnType<typeof dice>, wasm: import("./types.js").Wasm, say: Say) => Omit<Exercise, "id">>} */
const KINDS = {
  weights(roll, wasm, say) {
    const low = roll(1, 19);
    const bg = roll(-5, low - 1);
    const text = workload({ low: spins(low), bg: spins(bg) }, { duration: 10000000, windows: [{ name: "all", from: 0, to: 10000000 }] });
    return { values: { low, bg }, answer: ask(wasm, text, {}, (s) => ({ a: say.percent(share(s, 0, "all", "low")), b: say.percent(share(s, 0, "all", "bg")) })) };
  },
  shares(roll, wasm, say) {
    const low = roll(3, 19);
    const high = roll(-10, low - 1);
    const bg = roll(-5, 10);
    const text = workload({ low: holds(low, { runtime: 8500000 }), bg: spins(bg), high: waits(high, 2000000) }, WINDOWS);
    return { values: { low, high, bg }, answer: ask(wasm, text, {}, (s) => ({ a: say.percent(share(s, 0, "boosted", "low")), b: say.percent(share(s, 1, "boosted", "low")) })) };
  },
  top(roll, wasm) {
    const low = roll(5, 19);
    const high = roll(-10, low - 1);
    const text = workload({ low: holds(low, { runtime: 8500000 }), bg: spins(0), high: waits(high, 2000000) }, WINDOWS);
    return {
      values: { low, high },
      answer: ask(wasm, text, {}, (s) => {
        const [stock, patched] = [0, 1].map((row) => s.marks(row).find((m) => m.kind === "boost" && m.task === "low"));
        return { pr: (stock?.prio ?? 0) - 100, ni: low, a: stock?.weight ?? 0, b: patched?.weight ?? 0 };
      }),
    };
  },
  crowd(roll, wasm, say) {
    const low = roll(5, 15);
    const n = roll(2, 4);
    const tasks = Object.fromEntries(Array.from({ length: n }, (_, i) => [`bg${i + 1}`, spins(0)]));
    const text = workload({ low: holds(low, { runtime: 8500000 }), ...tasks, high: waits(0, 2000000) }, WINDOWS);
    return { values: { low, n }, answer: ask(wasm, text, {}, (s) => ({ a: say.percent(share(s, 0, "boosted", "low")), b: say.percent(share(s, 1, "boosted", "low")) })) };
  },
  first(roll, wasm, say) {
    const low = roll(8, 15);
    const one = roll(1, low - 2);
    const two = roll(-10, one - 1);
    const text = workload({ low: holds(low, { runtime: 8500000 }), bg: spins(0), first: waits(one, 2000000), second: waits(two, 2500000) }, WINDOWS);
    const under = (/** @type {string} */ pi) => ask(wasm, text, { pi }, (s) => say.percent(share(s, 1, "boosted", "low")));
    return { values: { low, one, two }, answer: { a: under("reweight"), b: under("reweight-v2") } };
  },
  wait(roll, wasm, say) {
    const low = roll(5, 12);
    const work = 50 * roll(2, 8);
    const text = workload({ low: holds(low, { run: work * 1000 }), bg: spins(0), high: waits(0, 20000) }, { duration: 12000000 });
    return { values: { low, work }, answer: ask(wasm, text, {}, (s) => ({ a: say.time(waitOf(s.marks(0), "high")), b: say.time(waitOf(s.marks(1), "high")) })) };
  },
};

/** One exercise of each kind. @param {number} seed @param {import("./types.js").Wasm} wasm @param {Say} say @returns {Exercise[]} */
export function exercises(seed, wasm, say) {
  const roll = dice(seed);
  return Object.entries(KINDS).map(([id, make]) => ({ id, ...make(roll, wasm, say) }));
}
