// @ts-check
/**
 * The page for frames. Its start state is in its address (core/link.js says how); `origin` there names the page
 * around it. It tells that page `ready`, `state`, `error` and `resize`, does what it is asked and replies:
 *
 *   out   { source: "reweight-lab", type: "ready" | "state", state }
 *         { source: "reweight-lab", type: "error", cause, message }
 *         { source: "reweight-lab", type: "resize", height }                       CSS px
 *   in    { target: "reweight-lab", id, command, args }
 *   out   { source: "reweight-lab", type: "reply", id, ok: true, result, state }
 *         { source: "reweight-lab", type: "reply", id, ok: false, message }
 *
 * A message that is not of this form, or comes from elsewhere than the page around, is left unanswered.
 */
import "./reweight-lab.js";

const NAME = "reweight-lab";

/** What may be asked, with the check of its arguments: each a plain value of that kind. @type {Record<string, ("number" | "string" | "workload")[]>} */
const COMMANDS = {
  play: [], pause: [], reset: [], undo: [], redo: [], state: [], workload: [], settled: [],
  step: ["number"],
  seek: ["number"],
  setNice: ["string", "number"],
  setPi: ["string"],
  load: ["workload", "string"],
};

/** Arguments that may be left out. @type {Record<string, number>} */
const OPTIONAL = { step: 1, load: 1 };

const lab = /** @type {import("./reweight-lab.js").ReweightLabElement} */ (document.querySelector(NAME));

/** Whom to tell: `origin` in the address, else the page that loaded us; "*" where a page has no origin of its own (a file). */
const around = (() => {
  const named = new URLSearchParams(location.search).get("origin");
  for (const url of [named, document.referrer]) {
    if (!url) continue;
    try {
      const { origin } = new URL(url);
      if (origin !== "null") return origin;
    } catch {
      // Not an address: the next one.
    }
  }
  return "*";
})();

/** @param {Record<string, unknown>} message */
function tell(message) {
  if (parent !== window) parent.postMessage({ source: NAME, ...message }, around);
}

/** @param {"number" | "string" | "workload"} kind @param {unknown} value */
const fits = (kind, value) =>
  kind === "workload" ? typeof value === "string" || (typeof value === "object" && value !== null && !Array.isArray(value))
    : typeof value === kind && (kind !== "number" || Number.isFinite(value));

/** @param {string} command @param {unknown[]} args @returns {string} empty when they fit */
function misfit(command, args) {
  const kinds = COMMANDS[command];
  const least = kinds.length - (OPTIONAL[command] ?? 0);
  const good = args.length >= least && args.length <= kinds.length && args.every((a, i) => fits(kinds[i], a));
  return good ? "" : `${command}: expected ${kinds.length ? kinds.join(", ") : "no arguments"}`;
}

/** A reason that is plain text, whatever was thrown. @param {unknown} e */
const reason = (e) => (e && typeof e === "object" && "message" in e ? String(e.message) : String(e));

addEventListener("message", async (event) => {
  if (parent === window || event.source !== parent) return;
  if (around !== "*" && event.origin !== around) return;
  const { data } = event;
  if (typeof data !== "object" || data === null || data.target !== NAME) return;
  const { id = null, command, args = [] } = data;
  if (typeof command !== "string" || !Object.hasOwn(COMMANDS, command) || !Array.isArray(args)) return;
  if (id !== null && typeof id !== "string" && typeof id !== "number") return;
  const wrong = misfit(command, args);
  if (wrong) return tell({ type: "reply", id, ok: false, message: wrong });
  try {
    // Not `lab.ready` first: when starting fails it never settles, and the asker must hear of it.
    const act = /** @type {any} */ (lab)[command];
    const result = await act.apply(lab, args);
    tell({ type: "reply", id, ok: true, result: command === "workload" ? result : null, state: lab.state() });
  } catch (e) {
    tell({ type: "reply", id, ok: false, message: reason(e) });
  }
});

lab.addEventListener("ready", () => tell({ type: "ready", state: lab.state() }));
lab.addEventListener("change", () => tell({ type: "state", state: lab.state() }));
lab.addEventListener("error", (e) => {
  const { cause, message } = /** @type {any} */ (e).detail;
  tell({ type: "error", cause, message });
});

// As high as the lab is: the frame cannot grow by itself.
let height = 0;
new ResizeObserver(() => {
  const now = Math.ceil(lab.getBoundingClientRect().height);
  if (now !== height) tell({ type: "resize", height: (height = now) });
}).observe(lab);
