/** What opens on top: keys, link, save and open, tasks, the table of the timeline, and why (for the embedded lab). */
import { sheetPage } from "./assets.js";
import { el, say, set, taskName } from "./dom.js";
import { rowName } from "./answers.js";
import { KINDS, make } from "./export.js";
import { grid } from "./section.js";
import { range } from "./range.js";
import { pseudoCode, whySentence } from "./why.js";

/** Rows a table of the timeline holds at most. */
const MOST_ROWS = 300;

/** Files larger than this are not opened: the model bounds a workload's size as well. */
const MOST_BYTES = 4 << 20;

/** @param {import("./view.js").View} view @param {string} name */
export function dialog(view, name) {
  const make = /** @type {Record<string, (view: import("./view.js").View, box: HTMLDialogElement) => unknown[]>} */ ({ keys, share, save, tasks, table, why })[name];
  // The view may have been replaced (projector, another scenario) while this part was fetched.
  if (!make || !view.node?.isConnected) return;
  const { words: w } = view;
  const box = el("dialog", { "aria-labelledby": "dialog-h", class: name === "table" || name === "why" ? "wide" : null });
  set(box, el("div", { class: "dialog-h" }, el("h2", { id: "dialog-h" }, w.t(`dialog-${name}`)), el("button", { class: "btn", type: "button", "data-control": "close", onclick: () => box.close() }, w.t("close"))), make(view, box));
  box.addEventListener("close", () => box.remove());
  // A press beside it closes it, as readers expect.
  box.addEventListener("pointerdown", (e) => {
    if (e.target !== box) return;
    const r = box.getBoundingClientRect();
    if (e.clientX < r.left || e.clientX > r.right || e.clientY < r.top || e.clientY > r.bottom) box.close();
  });
  /** @type {Element} */ (view.node).append(box);
  box.showModal();
}

/** @param {import("./view.js").View} view */
function keys({ words: w }) {
  const k = (/** @type {string[]} */ ...names) => names.map((n, i) => [i ? " " : "", el("kbd", { class: "k" }, n)]);
  const rows = [
    [k("←", "→"), "keys-decision"], [k("⇧←", "⇧→"), "keys-tick"], [k("Home", "End"), "keys-ends"], [k("B", "R"), "keys-boost"], [k("P"), "keys-patch"],
    [k("Space"), "keys-play"], [k("+", "−", "0"), "keys-zoom"], [k("W", "S", "A", "D"), "keys-wasd"], [k(",", "."), "keys-comma"], [k("F"), "keys-fit"],
    [k("Ctrl Z", "Ctrl Y"), "keys-undo"], [k("?"), "keys-help"], [k("Esc"), "keys-esc"],
  ];
  return [
    el("table", { class: "keys" }, el("tbody", {}, rows.map(([key, id]) => el("tr", {}, el("td", {}, key), el("td", {}, w.t(/** @type {string} */ (id))))))),
    el("p", { class: "small muted" }, w.t("keys-pointer")),
  ];
}

/** @param {import("./view.js").View} view */
function share(view) {
  const { words: w } = view;
  const url = view.link();
  const input = el("input", { type: "text", readonly: true, value: url, "aria-label": w.t("link"), onfocus: (/** @type {FocusEvent} */ e) => /** @type {HTMLInputElement} */ (e.target).select() });
  const code = `<script type="module" src="reweight-lab.js"></script>\n${view.snippet()}`;
  return [
    el("p", {}, w.t("share-text")),
    el("p", { class: "link" }, input, copyButton(w, () => url)),
    el("h3", {}, w.t("embed-title")), el("p", {}, w.t("embed-text")), el("pre", { class: "src mono", dir: "ltr" }, code), el("p", {}, copyButton(w, () => code)),
  ];
}

/** @param {import("./words.js").Words} w @param {() => string} text @param {string} [label] */
function copyButton(w, text, label = "copy") {
  const button = el("button", { class: "btn", type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      say(button, w.t("copied"));
    } catch {
      // Not every page may write to the clipboard: the text stands beside the button.
      say(button, w.t("copy-failed"));
    }
    setTimeout(() => say(button, w.t(label)), 1500);
  } }, w.t(label));
  return button;
}

/** @param {import("./view.js").View} view @param {HTMLDialogElement} box */
function save(view, box) {
  const { lab, words: w } = view;
  const session = /** @type {import("./types.js").Session} */ (lab.session);
  const problem = el("p", { class: "note", role: "alert", hidden: true });
  const name = lab.workload.replace(/\.json$/, "").replace(/[^\w.-]+/g, "-") || "workload";
  const unsaved = el("div", { role: "alert" });
  const variant = lab.info.pi;
  const row = el("select", { "data-control": "save-row" }, [w.t("row-stock"), rowName(w, 1, variant)].map((label, i) => el("option", { value: i, selected: i === 1 }, label)));
  const buttons = Object.entries(KINDS).map(([kind, { ending, row: one }]) => el("button", { class: "btn", type: "button", "data-control": `save:${kind}`, onclick: async () => {
    try {
      const blob = await lab.during(make(view, kind, row.value === "0" ? 0 : 1));
      download(view.root, blob, one ? `${name}-${row.value === "0" ? "stock" : variant}.${ending}` : `${name}.${ending}`);
      set(unsaved);
    } catch (e) {
      set(unsaved, el("p", { class: "note" }, w.t("save-failed", { message: /** @type {any} */ (e)?.message ?? String(e) })));
    }
  } }, w.t(`save-${kind}`)));
  const of = (/** @type {boolean} */ one) => buttons.filter((_, i) => !!Object.values(KINDS)[i].row === one);
  const file = el("input", { type: "file", accept: ".json,application/json", class: "sr", "data-control": "open-file", "aria-label": w.t("open-file"), onchange: async () => {
    const f = file.files?.[0];
    if (f) await lab.during(take(f));
  } });
  const area = el("textarea", { spellcheck: "false", dir: "ltr", "aria-label": w.t("paste-workload"), "data-control": "workload-text" });

  /** @param {File} f */
  async function take(f) {
    if (f.size > MOST_BYTES) return refuse({ message: w.t("file-too-large", { name: f.name, most: MOST_BYTES >> 20 }) });
    open(await f.text(), f.name);
  }

  /** @param {string} text @param {string} from */
  function open(text, from) {
    try {
      lab.load(text, from);
      box.close();
    } catch (e) {
      area.value = text;
      refuse(/** @type {import("./types.js").Refusal} */ (e), text);
    }
  }

  /** @param {import("./types.js").Refusal} r @param {string} [text] */
  function refuse(r, text) {
    problem.hidden = false;
    const lines = text && r.line ? text.split("\n") : [];
    const at = r.line ?? 0;
    set(problem, r.line ? el("b", {}, w.t("line-column", { line: r.line, column: r.column ?? 1 }), " ") : null, r.path ? [el("code", {}, r.path), ": "] : null, r.message,
      lines.length > 0 && el("pre", { class: "src mono", dir: "ltr" }, lines.slice(Math.max(0, at - 3), at + 1).map((l, i) => {
        const n = Math.max(0, at - 3) + i + 1;
        const shown = `${String(n).padStart(4)}  ${l.slice(0, 120)}\n`;
        return n === at ? el("b", {}, shown) : shown;
      })));
  }

  box.addEventListener("dragover", (e) => e.preventDefault());
  box.addEventListener("drop", (e) => {
    e.preventDefault();
    const f = e.dataTransfer?.files[0];
    if (f) void lab.during(take(f));
  });
  return [
    el("h3", {}, w.t("open-title")), el("p", {}, w.t("open-text")), problem,
    el("div", { class: "choices" }, el("button", { class: "btn main", type: "button", onclick: () => file.click() }, w.t("open-file")), file),
    area,
    el("div", { class: "choices" }, el("button", { class: "btn", type: "button", "data-control": "open-text", onclick: () => open(area.value, "workload.json") }, w.t("open-pasted")),
      el("button", { class: "btn plain", type: "button", "data-control": "edit-current", onclick: () => (area.value = session.workload()) }, w.t("edit-current"))),
    el("h3", {}, w.t("save-title")), unsaved,
    el("div", { class: "choices" }, of(false), copyButton(w, () => view.link(), "copy-link")),
    view.full && sheetPage() && el("div", { class: "choices" }, el("a", { class: "btn", href: `${sheetPage()}${new URL(view.link()).search}`, target: "_blank", "data-control": "sheet" }, w.t("print-sheet")), el("a", { class: "btn", href: `${sheetPage()}?seed=1`, target: "_blank" }, w.t("print-exercises"))),
    el("div", { class: "choices" }, el("label", {}, w.t("save-which"), " ", row), of(true)),
  ];
}

/** @param {ShadowRoot} root @param {Blob} blob @param {string} name */
function download(root, blob, name) {
  const href = URL.createObjectURL(blob);
  const a = el("a", { href, download: name, hidden: true });
  root.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

const POLICIES = ["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_FIFO", "SCHED_RR"];

/** @param {import("./view.js").View} view */
function tasks(view) {
  const { lab, words: w, ctx } = view;
  const session = () => /** @type {import("./types.js").Session} */ (lab.session);
  const box = el("div", { class: "scroll" });
  const problem = el("p", { class: "note", role: "alert", hidden: true });
  /** @param {() => void} act */
  const attempt = (act) => {
    try {
      act();
      problem.hidden = true;
    } catch (e) {
      problem.hidden = false;
      say(problem, /** @type {any} */ (e)?.message ?? String(e));
    }
    draw();
  };
  const newName = el("input", { type: "text", "aria-label": w.t("task-name"), placeholder: w.t("task-name"), maxlength: 64, "data-control": "add-name" });
  const add = el("div", { class: "choices" }, newName, el("button", { class: "btn", type: "button", "data-control": "add-task", onclick: () => attempt(() => {
    const name = newName.value.trim();
    lab.change("add-task", name, () => session().add_task(name, 0));
    newName.value = "";
  }) }, w.t("add-task")));

  function draw() {
    set(box, el("table", { class: "tasks-table" },
      el("thead", {}, el("tr", {}, ["task", "policy", "nice-or-prio", "cpu", ""].map((k) => el("th", { scope: "col" }, k ? w.t(k) : el("span", { class: "sr" }, w.t("remove")))))),
      el("tbody", {}, lab.info.tasks.map((t) => {
        const name = el("input", { type: "text", value: t.name, maxlength: 64, "aria-label": w.t("task-name"), onchange: () => attempt(() => lab.change("rename-task", name.value, () => session().rename_task(t.name, name.value.trim()))) });
        const policy = el("select", { "aria-label": w.t("policy"), "data-control": `policy:${t.name}`, onchange: () => attempt(() => lab.setPolicy(t.name, policy.value, /FIFO|RR/.test(policy.value) ? Math.max(1, t.rt_priority || 50) : t.nice)) },
          [...new Set([...POLICIES, t.policy])].map((p) => el("option", { value: p, selected: p === t.policy }, p)));
        const rt = /FIFO|RR/.test(t.policy);
        const n = el("input", { type: "number", value: rt ? t.rt_priority : t.nice, min: rt ? 1 : -20, max: rt ? 99 : 19, "aria-label": w.t("nice-or-prio"), onchange: () => attempt(() => (rt ? lab.setPolicy(t.name, t.policy, n.valueAsNumber) : lab.setNice(t.name, n.valueAsNumber))) });
        return el("tr", {}, el("td", {}, taskName({ name: "", role: t.role }), name), el("td", {}, policy), el("td", {}, n), el("td", {}, t.cpu),
          el("td", {}, el("button", { class: "btn plain", type: "button", "data-control": `remove:${t.name}`, onclick: () => attempt(() => lab.change("remove-task", t.name, () => session().remove_task(t.name))) }, w.t("remove"))));
      }))));
  }
  draw();
  void ctx;
  return [el("p", { class: "muted small" }, w.t("tasks-text")), problem, box, add];
}

/** The timeline as a table: what runs when, in view, and the range's numbers. @param {import("./view.js").View} view */
function table(view) {
  const { lab, words: w, ctx } = view;
  const s = /** @type {import("./types.js").Session} */ (lab.session);
  const STATES = ["running", "ready", "blocked", "sleeping", "ended"];
  const numbers = range(lab, ctx);
  numbers.update(new Set(["session"]));
  // The page has the same section further down; here it is part of the dialog.
  numbers.node.setAttribute("role", "group");
  const [from, to] = lab.select ?? [lab.view.from, lab.view.to];
  const stop = lab.horizon === null ? to : Math.min(to, lab.horizon);
  /** @type {[number, unknown[]][]} */
  const rows = [];
  for (const row of [0, 1]) {
    if (lab.covered(row)) continue;
    for (const t of lab.info.tasks) {
      const segments = s.segments(row, t.id, from, stop);
      for (let i = 0; i < segments.length; i += 3) {
        const start = Math.max(segments[i], from);
        const end = i + 3 < segments.length ? segments[i + 3] : stop;
        rows.push([start, [ctx.clock(start), rowName(w, row, lab.info.pi), t.name, w.t(`state-${STATES[segments[i + 1]]}`, { lock: lab.info.locks[segments[i + 2]]?.name ?? "" }), w.ms(end - start, 3)]]);
      }
    }
    for (const m of lab.marks[row]) {
      if (m.at_ns < from || m.at_ns > stop || !w.has(`mark-${m.kind}`)) continue;
      rows.push([m.at_ns, [ctx.clock(m.at_ns), rowName(w, row, lab.info.pi), m.task ?? "", w.t(`mark-${m.kind}`, { ...m, donor: m.donor ?? "–" }), ""]]);
    }
  }
  rows.sort((a, b) => a[0] - b[0]);
  return [
    el("div", { class: "scroll" }, numbers.node),
    rows.length > MOST_ROWS && el("p", { class: "small muted" }, w.t("table-cut", { n: MOST_ROWS, all: rows.length })),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": w.t("timeline") }, grid({ head: [w.t("time"), w.t("run"), w.t("task"), w.t("what"), w.t("col-ms")], num: [4], rows: rows.slice(0, MOST_ROWS).map((r) => r[1]) })),
  ];
}

/** @param {import("./view.js").View} view */
function why(view) {
  const { lab, words: w, ctx } = view;
  const code = pseudoCode(lab, ctx);
  code.draw();
  return [
    el("p", { class: "muted small" }, w.t("at-clock", { time: ctx.clock(lab.time) })),
    [0, 1].map((row) => el("p", { class: "verdict" }, el("b", {}, `${rowName(w, row, lab.info.pi)}: `), whySentence(lab, w, lab.why(row, lab.time)))),
    el("h3", {}, w.t("why-title")), code.when, code.lead, el("div", { class: "why" }, code.box, code.side),
  ];
}
