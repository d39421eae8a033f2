/** Why: the decision at the cursor in a sentence, and rt_mutex_setprio in our own pseudo-code with the steps that ran. */
import { el, say, set } from "./dom.js";
import { section } from "./section.js";

/**
 * A decision in words. Values that end in `_ns` are times; the rest stand as they are.
 * @param {import("./lab.js").Lab} lab @param {import("./words.js").Words} w @param {import("./types.js").Why | null} why @returns {(Node | string)[]}
 */
export function whySentence(lab, w, why) {
  if (!why) return [w.t("why-unknown")];
  /** @type {Record<string, unknown>} */
  const values = {};
  for (const [name, value] of Object.entries(why.values)) {
    if (typeof value !== "number") values[name] = value;
    else if (name === "vruntime") values[name] = w.fixed(value / 1e6, 3);
    else if (name.endsWith("_ns")) values[name.slice(0, -3)] = w.fixed(value / 1e6, 3, /lag|deadline|ahead/.test(name));
    else values[name] = value;
  }
  if (typeof why.values.count === "number") values.count = why.values.count;
  const id = why.id.startsWith("why-") ? why.id : `why-${why.id}`;
  if (!w.has(id)) return [w.t("why-unknown")];
  const cause = `cause-${why.values.cause}`;
  return [...w.rich(id, values), w.has(cause) && (why.values.prev || !w.table[cause].includes("{prev}")) ? ` ${w.t(cause, values)}` : ""];
}

/**
 * The lines: which step of the specification's E.1 each stands for, and what it says for a row.
 * @type {{ n: string, text: string, step: number, of: (s: import("./types.js").Steps) => boolean, value?: "prio" | "change" | "patch" }[]}
 */
const LINES = [
  { n: "1", text: "code-new", step: 1, of: () => true, value: "prio" },
  { n: "2", text: "code-stop", step: 2, of: () => false },
  { n: "3", text: "code-dequeue", step: 7, of: () => true },
  { n: "4", text: "code-deadline", step: 8, of: (s) => s.prio < 0 },
  { n: "", text: "code-rt", step: 8, of: (s) => s.prio >= 0 && s.prio < 100 },
  { n: "", text: "code-fair", step: 8, of: (s) => s.prio >= 100 },
  { n: "", text: "code-was-deadline", step: 8, of: (s) => s.prio >= 100 && s.old_prio < 0 },
  { n: "", text: "code-was-rt", step: 8, of: (s) => s.prio >= 100 && s.old_prio >= 0 && s.old_prio < 100 },
  { n: "", text: "code-patch", step: 8, of: (s) => s.reweight, value: "patch" },
  { n: "5", text: "code-set", step: 9, of: () => true, value: "change" },
  { n: "6", text: "code-enqueue", step: 10, of: () => true },
  { n: "7", text: "code-preempt", step: 11, of: () => true },
];

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx */
export function pseudoCode(lab, ctx) {
  const { words: w } = ctx;
  const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": w.t("code-title") });
  const side = el("div", { class: "side" });
  const when = el("span", { class: "muted small" });
  const lead = el("p", { class: "lead" });

  function draw() {
    if (!lab.session || !lab.holder) return;
    const steps = [0, 1].map((row) => lab.why(row, lab.time)?.steps ?? null);
    const told = steps[1] ?? steps[0];
    const holder = lab.holder.name;
    if (!told) {
      say(when, "");
      say(lead, w.t("why-no-loan", { task: holder }));
      set(box, el("button", { class: "btn", type: "button", disabled: lab.boosts[1] === null && lab.boosts[0] === null, onclick: () => {
        lab.seek(lab.boosts[1] ?? lab.boosts[0] ?? 0);
        lab.show();
      } }, w.t("to-the-boost")));
      set(side);
      return;
    }
    say(when, w.t("why-when", { time: ctx.clock(told.at_ns), task: told.task }));
    say(lead, w.t(told.donor ? "why-lead-boost" : "why-lead-deboost", { donor: told.donor ?? "", lock: lab.info.locks[0]?.name ?? "" }));
    const pi = lab.info.pi;
    set(box, el("table", { class: "code" },
      el("thead", {}, el("tr", {}, el("th", { colspan: 3, scope: "col" }, w.t("code-head", { task: told.task, donor: told.donor ?? "–" })), el("th", { class: "v", scope: "col" }, w.t("short-stock")), el("th", { class: "v", scope: "col" }, w.t(`short-${pi}`)))),
      el("tbody", {}, LINES.map((line) => {
        const patch = line.value === "patch";
        const ran = steps.map((x) => x !== null && x.ran.includes(line.step) && line.of(x));
        const any = ran[0] || ran[1];
        const glyph = patch ? "+" : any ? "●" : "○";
        return el("tr", { class: patch ? "lit" : any ? "" : "dim" },
          el("td", { class: "g" }, el("span", { "aria-hidden": "true" }, glyph), el("span", { class: "sr" }, w.t(patch ? "code-added" : any ? "code-ran" : "code-skipped"))),
          el("td", { class: "n" }, line.n), el("td", { dir: "ltr" }, w.t(line.text)),
          steps.map((x, row) => el("td", { class: `v ${patch && !ran[row] ? "off" : ""}` }, value(line, x, ran[row], row))));
      }))));
    set(side,
      el("p", {}, el("span", { class: "mono" }, "●"), ` ${w.t("code-ran")}\u2002`, el("span", { class: "mono" }, "○"), ` ${w.t("code-skipped")}\u2002`, el("b", { class: "patchc mono" }, "+"), ` ${w.t("code-added")}`),
      el("h3", {}, w.t("two-numbers")), el("p", {}, w.rich("two-numbers-prio")), el("p", {}, w.rich("two-numbers-weight")),
      el("h3", {}, w.t("way-back")), el("p", {}, w.t("way-back-text")));
  }

  /** @param {typeof LINES[0]} line @param {import("./types.js").Steps | null} s @param {boolean} ran @param {number} row @returns {unknown} */
  function value(line, s, ran, row) {
    if (!s) return w.t("not-called");
    if (line.value === "patch") {
      if (ran) return w.t("from-to", { from: s.old_weight, to: s.weight });
      return row === 0 || lab.info.pi === "stock" ? w.t("no-such-line", { weight: s.weight }) : w.t("skipped-weight", { weight: s.weight });
    }
    if (!ran) return w.t("skipped");
    if (line.value === "prio") return s.prio;
    if (line.value === "change") return w.t("from-to", { from: s.old_prio, to: s.prio });
    return "✓";
  }

  return { box, side, when, lead, draw };
}

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function why(lab, ctx) {
  const { words: w } = ctx;
  const code = pseudoCode(lab, ctx);
  const node = section("why", w.t("why-title"), [code.when], code.lead, el("div", { class: "card pad why" }, code.box, code.side));
  return {
    node,
    update(what) {
      node.hidden = !lab.holder;
      if (what.has("session") || what.has("time")) code.draw();
    },
  };
}
