/** The holder's share over time, with the closed form to hold it against; and what real kernels did. */
import { text } from "./assets.js";
import { rowName, weightsOf } from "./answers.js";
import { el, say, set } from "./dom.js";
import { paintShare } from "./paint-charts.js";
import { grid, onWidth, pictureOrTable, section } from "./section.js";

/** The window of the moving share, ns: at HZ 1000 ten turns of the stock run. */
const WINDOW = 100e6;

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function shareOverTime(lab, ctx) {
  const { words: w } = ctx;
  const canvas = el("canvas", { role: "img" });
  const box = el("div", { class: "chart" }, canvas);
  const lead = el("p", { class: "lead" });
  const table = pictureOrTable(w, box, () => samples());
  const node = section("share", w.t("share-title"), [table.button], lead, el("div", { class: "card pad" }, box, table.holder));
  const size = onWidth(box, paint);

  /** The stretches worth seeing: around the boost and around the release, or the whole run. @returns {{ span: [number, number], at: number, label: string }[]} */
  function spans() {
    const boost = lab.boosts[1] ?? lab.boosts[0];
    const release = lab.releases[1] ?? lab.releases[0];
    if (boost === null || boost === undefined) return [{ span: [0, lab.duration], at: 0, label: "" }];
    const around = (/** @type {number} */ at, /** @type {string} */ label) => ({ span: /** @type {[number, number]} */ ([Math.max(0, at - 2 * WINDOW), Math.min(lab.duration, at + 3 * WINDOW)]), at, label });
    const out = [around(boost, w.t("share-boost"))];
    if (release !== null && release !== undefined) {
      if (release - boost > 6 * WINDOW) out.push(around(release, w.t("share-release")));
      else out[0].span[1] = Math.min(lab.duration, release + 3 * WINDOW);
    }
    return out;
  }

  function paint() {
    if (!lab.session || !lab.holder || size.width < 1 || box.hidden || lab.cover) return;
    const s = spans();
    paintShare(lab, canvas, {
      ...ctx.paintBase(size.width, box.clientHeight),
      rows: [0, 1],
      task: lab.holder.id,
      spans: s.map((x) => x.span),
      origins_ns: s.map((x) => x.at),
      origin_labels: s.map((x) => x.label),
      window_ns: WINDOW,
      cursor_ns: lab.time,
      played_ns: lab.horizon,
      row_labels: [w.t("short-stock"), w.t(`short-${lab.info.pi}`)],
    });
  }

  /** @returns {unknown} */
  function samples() {
    const { session, holder } = lab;
    if (!session || !holder) return "";
    return grid({
      caption: w.t("share-caption", { task: holder.name }),
      head: [w.t("time"), rowName(w, 0, "stock"), w.t("predicted"), rowName(w, 1, lab.info.pi), w.t("predicted")],
      num: [1, 2, 3, 4],
      rows: spans().flatMap(({ span, at }) => {
        const n = 11;
        const curves = [0, 1].map((row) => session.share_curve(row, holder.id, span[0], span[1], WINDOW, n));
        return Array.from({ length: n }, (_, i) => {
          const t = span[0] + ((span[1] - span[0]) * i) / (n - 1);
          const cells = [0, 1].flatMap((row) => (lab.horizon !== null && t > lab.horizon ? ["–", "–"] : [w.percent(curves[row][i]), w.percent(session.ideal_share(row, t, holder.id))]));
          return [at ? ctx.clock(t) : w.time(t), ...cells];
        });
      }),
    });
  }

  return {
    node,
    update(what) {
      node.hidden = !lab.holder;
      if (!lab.holder) return;
      say(lead, w.t("share-lead", { task: lab.holder.name }));
      if (what.has("session")) canvas.setAttribute("aria-label", w.t("share-says", { task: lab.holder.name, a: answer(0), b: answer(1), variant: w.t(`short-${lab.info.pi}`) }));
      paint();
      if (what.has("session")) table.update();
    },
    free: () => size.free(),
  };

  /** @param {number} row */
  function answer(row) {
    const a = lab.answer(row);
    return a ? w.percent(a.share) : "–";
  }
}

/** Which recorded scenario a session is, if any. @param {import("./lab.js").Lab} lab */
export function recordedScenario(lab) {
  const { info } = lab;
  if (!lab.isPreset || info.edits.some((e) => e.at_ns > 0)) return null;
  const other = { "plain-mutex": "nopi", "rt-waiter": "fifo_waiter", "idle-holder": "idle_low", "batch-holder": "batch_low", timeout: "timeout" }[lab.workload];
  const nice = Object.fromEntries(info.tasks.map((t) => [t.name, t.nice]));
  if (other) return lab.changed && (nice.low !== 10 || nice.bg !== 0) ? null : other;
  if (!/^(patch-test(-spin)?|waiter-.*)$/.test(lab.workload) || info.tasks.length !== 3) return null;
  return SCENARIOS[[nice.low, nice.high, nice.bg].join()] ?? null;
}

/** low, high, bg. @type {Record<string, string>} */
const SCENARIOS = {
  "10,0,0": "base", "19,0,0": "low19", "5,0,0": "low5", "1,0,0": "low1", "0,0,0": "low0", "-5,0,0": "low_m5", "10,0,5": "bg5",
  "10,-10,0": "high_m10", "10,5,0": "high5", "10,10,0": "high10", "10,19,0": "high19",
};

/** @typedef {{ kernels: { name: string, kernel: string, hz: number, live?: boolean }[], scenarios: Record<string, Record<string, (number | null)[]>> }} Recorded */

/** @param {import("./lab.js").Lab} lab @param {import("./view.js").Context} ctx @returns {import("./types.js").Part} */
export function recorded(lab, ctx) {
  const { words: w } = ctx;
  const lead = el("p", { class: "lead" });
  const box = el("div");
  const table = pictureOrTable(w, box, () => asTable());
  const node = section("recorded", w.t("recorded-title"), [table.button], lead, el("div", { class: "card pad" }, box, table.holder));
  /** @type {Recorded | null} */
  let data = null;
  lab.during(text("recorded.json")).then((json) => {
    data = JSON.parse(json);
    ctx.recorded = (row) => {
      const i = data?.kernels.findIndex((k) => k.kernel === lab.info.kernel && k.hz === lab.info.hz) ?? -1;
      const kind = row ? lab.info.pi : "stock";
      return (i >= 0 && current()?.[kind]?.[i]) || undefined;
    };
    lab.touch("theme");
    draw();
  }, () => {});

  const current = () => data?.scenarios[recordedScenario(lab) ?? ""];

  function draw() {
    if (!lab.session || !lab.holder) return;
    const holder = lab.holder.name;
    say(lead, w.t("recorded-lead", { task: holder }));
    const found = current();
    if (!data || !found) return set(box, el("p", { class: "muted" }, w.t("recorded-none")));
    const shares = Object.values(found).flat().filter((x) => x !== null);
    const model = [lab.answer(0)?.share ?? 0, lab.answer(1)?.share ?? 0];
    const most = Math.max(...shares, ...model, 0.1) * 1.28;
    const variant = lab.info.pi;
    const bar = (/** @type {number} */ share, /** @type {string} */ cls) => {
      const i = el("i", { class: cls });
      i.style.width = `${(share / most) * 100}%`;
      return i;
    };
    const line = (/** @type {number | null | undefined} */ share, /** @type {number} */ row) => {
      if (share === null || share === undefined) return el("div", { class: "line" }, el("span", { class: "muted" }, w.t("recorded-not", { variant: w.t(`short-${variant}`) })));
      const bars = el("div", { class: "bars" }, bar(share, row ? "solid" : ""), bar(model[row], "model"));
      bars.style.flex = `0 0 ${(Math.max(share, model[row]) / most) * 100}%`;
      for (const [i, s] of [share, model[row]].entries()) /** @type {HTMLElement} */ (bars.children[i]).style.width = `${(s / Math.max(share, model[row], 1e-9)) * 100}%`;
      return el("div", { class: "line" }, bars, el("span", {}, w.percent(share, 2)));
    };
    set(box, el("dl", { class: "rec" }, data.kernels.map((k, i) => [
      el("dt", {}, k.name, el("small", {}, w.t(k.live ? "recorded-live" : "recorded-hz", { hz: k.hz }))),
      el("dd", {}, line(found.stock?.[i], 0), variant !== "stock" && line(found[variant]?.[i], 1)),
    ])), el("div", { class: "rec-legend" }, el("span", {}, el("i"), w.t("short-stock")), variant !== "stock" && el("span", {}, el("i", { class: "solid" }), w.t(`short-${variant}`)), el("span", {}, el("i", { class: "model" }), w.t("our-model"))));
  }

  /** @returns {unknown} */
  function asTable() {
    const found = current();
    if (!data || !found) return w.t("recorded-none");
    const kinds = Object.keys(found);
    return grid({
      caption: w.t("recorded-lead", { task: lab.holder?.name ?? "" }),
      head: [w.t("kernel"), "HZ", ...kinds.map((k) => w.t(`short-${k}`))],
      num: [1, ...kinds.map((_, i) => i + 2)],
      rows: data.kernels.map((k, i) => [k.name, k.hz, ...kinds.map((v) => (found[v][i] === null ? "–" : w.percent(/** @type {number} */ (found[v][i]), 2)))]),
    });
  }

  return {
    node,
    update(what) {
      node.hidden = !lab.holder;
      if (what.has("session") || what.has("cover")) {
        draw();
        table.update();
      }
    },
  };
}

/** For the sentence beside the range table. @param {import("./lab.js").Lab} lab @param {number} row @param {number} at */
export function fraction(lab, row, at) {
  const weights = weightsOf(lab, row, at);
  return weights.real || !weights.sum ? null : weights;
}
