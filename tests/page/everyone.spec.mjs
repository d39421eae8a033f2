// Everyone: either language complete and nothing hard-coded, right to left, forced colours, less motion, small and large.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, open, settled, test, violations } from "./lab.mjs";

const WWW = fileURLToPath(new URL("../../www/", import.meta.url));
const table = (/** @type {string} */ name) => /** @type {Record<string, string>} */ (JSON.parse(readFileSync(`${WWW}locales/${name}.json`, "utf8")));

/** @param {import("@playwright/test").Page} page @param {string} what */
const clean = async (page, what) => expect(await violations(page), what).toEqual([]);

// ---- words -------------------------------------------------------------------------------------

test("both languages have every sentence of the sheets, with the same holes", () => {
  const [en, de] = [table("en.sheet"), table("de.sheet")];
  expect(Object.keys(de)).toEqual(Object.keys(en));
  const holes = (/** @type {string} */ s) => [...new Set(s.match(/\{\w+\}/g))].sort().join();
  for (const key of Object.keys(en)) expect(holes(de[key]), key).toBe(holes(en[key]));
});

test("every sentence is used, and every sentence that is used is there", () => {
  const files = ["", "core/"].flatMap((folder) => readdirSync(WWW + folder).filter((f) => f.endsWith(".js")).map((f) => readFileSync(WWW + folder + f, "utf8")));
  const code = files.join("\n");
  /** @type {Set<string>} */
  const literal = new Set([...code.matchAll(/"([a-z][\w-]*)"/g)].map((m) => m[1]));
  // `tour-${id}-ask` stands for every key of that shape.
  const shapes = [...code.matchAll(/`([a-z][\w-]*-(?:\$\{[^`{}]*(?:\{[^`{}]*\})?[^`{}]*\}[\w-]*)+)`/g)].map((m) => new RegExp(`^${m[1].replace(/\$\{[^}]*\}?[^}]*\}/g, "[\\w-]+")}$`));
  for (const name of ["en", "en.sheet"]) {
    const unused = Object.keys(table(name)).filter((key) => !literal.has(key) && !/^(paint-|why-|cause-)|-one$/.test(key) && !shapes.some((s) => s.test(key)));
    expect(unused, name).toEqual([]);
  }
  const all = { ...table("en"), ...table("en.sheet") };
  const missing = [...code.matchAll(/\bw\.(?:t|rich)\("([\w-]+)"/g)].map((m) => m[1]).filter((key) => !(key in all));
  expect(missing).toEqual([]);
});

/** Names, terms and numbers that are the same in every language. */
const SAME = /^(?:[\w-]+\.json|(?:low|bg|high|weak|strong|rt)(?: \d+)?|[ABM]|Reweight Lab|PR|NI|HZ|CPU|SCHED_\w+(?: \d+)?|CFS|EEVDF|[A-Z]|Home|End|Space|Esc|Ctrl [A-Z]|Ctrl|[⇧⌘←→↑↓].?|[\d\s.,:;%+−–×/·()&?✓✕●○…|-]*|\d+\.\d+(?:\.\d+)?|1\/\d+|\d+ ×)$/u;

test("no word on the page is hard-coded: with every sentence marked, nothing stands outside the marks", async ({ page }) => {
  test.setTimeout(240_000);
  // German, since there the scenarios' words are in the table as well.
  const marked = (/** @type {string} */ name) => JSON.stringify(Object.fromEntries(Object.entries(table(name)).map(([k, v]) => [k, `⟦${v}⟧`])));
  await page.route("**/locales/*.json", (route) => {
    const name = /([\w.]+)\.json$/.exec(new URL(route.request().url()).pathname)?.[1] ?? "";
    return route.fulfill({ contentType: "application/json", body: marked(name) });
  });
  /** Words outside the marks, and labels without them. */
  const outside = () => page.evaluate(() => {
    const host = document.querySelector("reweight-lab");
    const root = host ? /** @type {ShadowRoot} */ (host.shadowRoot) : document.body;
    /** @type {string[]} */
    const found = [];
    let depth = 0;
    /** @param {Node} node */
    const walk = (node) => {
      if (node instanceof Element) {
        if (/^(PRE|TEXTAREA|CODE|STYLE|NOSCRIPT|SLOT)$/.test(node.tagName)) return;
        for (const name of ["aria-label", "title", "placeholder", "aria-valuetext"]) {
          const value = node.getAttribute(name);
          if (value && !value.includes("⟦")) found.push(`${name}: ${value}`);
        }
        for (const child of node.childNodes) walk(child);
        return;
      }
      if (node.nodeType !== 3) return;
      for (const piece of (node.textContent ?? "").split(/(?=[⟦⟧])|(?<=[⟦⟧])/)) {
        if (piece === "⟦") depth++;
        else if (piece === "⟧") depth--;
        else if (depth === 0 && piece.trim()) found.push(piece.trim());
      }
    };
    for (const child of root.childNodes) walk(child);
    return found;
  });
  const check = async (/** @type {string} */ where) => {
    await settled(page);
    expect((await outside()).filter((t) => !SAME.test(t)), where).toEqual([]);
  };
  await page.addInitScript(() => {
    // The picture's words as well.
    const drawn = /** @type {any} */ (window);
    drawn.drawn = new Set();
    const paint = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      drawn.drawn.add(text);
      return paint.call(this, text, x, y);
    };
  });
  await page.goto("/?lang=de");
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/9,7/);
  await page.evaluate(() => scrollTo(0, 2000));
  await expect(page.locator("#patch")).toBeVisible();
  await check("the lab");
  const drawn = await page.evaluate(() => [.../** @type {any} */ (window).drawn]);
  expect(drawn.map((/** @type {string} */ t) => t.trim()).filter((/** @type {string} */ t) => !t.includes("⟦") && !t.includes("⟧") && !SAME.test(t))).toEqual([]);
  for (const name of ["keys", "share", "save", "tasks", "table"]) {
    await page.evaluate(() => scrollTo(0, 0));
    await page.locator(`[data-control=${name}]`).first().click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await check(name);
    await page.locator("[data-control=close]").click();
  }
  for (let n = 1; n <= 8; n++) {
    await page.goto(`/?lang=de&tour=${n}`);
    await page.locator("[data-control=tour-show]").click();
    await check(`step ${n}`);
  }
  await page.goto("/?lang=de&layout=projector&tour=3");
  await expect(page.locator(".tally")).toBeVisible();
  await check("projector");
  for (const address of ["/sheet.html?lang=de", "/sheet.html?lang=de&seed=2"]) {
    await page.goto(address);
    await expect(page.locator("html[data-ready]")).toBeAttached();
    await check(address);
  }
});

// ---- axe on each step, both languages, light, dark, projected ------------------------------------

for (const [lang, scheme, layout] of /** @type {const} */ ([["en", "dark", "lab"], ["de", "light", "lab"], ["en", "light", "projector"], ["de", "dark", "projector"]])) {
  test(`axe finds nothing on any step of the tour: ${lang}, ${scheme}, ${layout}`, async ({ page }) => {
    test.setTimeout(600_000);
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 1280, height: 720 });
    for (let n = 1; n <= 8; n++) {
      await page.goto(`/?tour=${n}&lang=${lang}${layout === "projector" ? "&layout=projector" : ""}`);
      await expect(page.locator("#tour-ask")).toBeVisible();
      await clean(page, `step ${n}, asked`);
      await page.locator("[data-control=tour-show]").click();
      await clean(page, `step ${n}, answered`);
    }
  });
}

// ---- right to left, forced colours, less motion, sizes --------------------------------------------

test("right to left, the page is mirrored, names keep their letters, and nothing overflows", async ({ page }) => {
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await open(page);
    await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
    await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
    await page.evaluate(() => scrollTo(0, 2000));
    await expect(page.locator("#patch")).toBeVisible();
    await settled(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
  const [answers, stage] = await Promise.all([page.locator(".answers").boundingBox(), page.locator(".both .stage").boundingBox()]);
  expect(answers?.x).toBeGreaterThan((stage?.x ?? 0) + (stage?.width ?? 0) - 1);
  // A sentence keeps its own direction: its question mark stands at its end, which is on the right.
  const mark = await page.locator("#question").evaluate((h) => {
    const walker = document.createTreeWalker(h, NodeFilter.SHOW_TEXT);
    /** @type {Text | null} */
    let last = null;
    while (walker.nextNode()) last = /** @type {Text} */ (walker.currentNode);
    const range = document.createRange();
    if (!last) throw new Error("no text");
    range.setStart(last, last.length - 1);
    range.setEnd(last, last.length);
    const first = document.createRange();
    first.setStart(last, 0);
    first.setEnd(last, 1);
    return { first: first.getBoundingClientRect().left, last: range.getBoundingClientRect().left };
  });
  expect(mark.last).toBeGreaterThan(mark.first);
  await expect(page.locator(".code td[dir=ltr]").first()).toBeVisible();
  await clean(page, "right to left");
});

test("in forced colours everything is drawn in the reader's colours, and states can be told apart", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await open(page);
  const told = await page.evaluate(() => {
    const root = /** @type {ShadowRoot} */ (document.querySelector("reweight-lab")?.shadowRoot);
    const system = document.createElement("i");
    document.body.append(system);
    /** @type {Record<string, string>} */
    const own = {};
    for (const name of ["Canvas", "CanvasText", "Highlight", "LinkText"]) {
      system.style.color = name;
      own[name] = getComputedStyle(system).color;
    }
    const canvas = /** @type {HTMLCanvasElement} */ (root.querySelector(".both canvas"));
    const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(0, 0, canvas.width, canvas.height);
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 255) continue;
      const colour = `rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`;
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    const style = (/** @type {string} */ selector) => getComputedStyle(/** @type {Element} */ (root.querySelector(selector)));
    return { own, counts: [...counts].filter(([, n]) => n > 150).map(([c]) => c), border: style(".sw i").borderStyle, bar: style(".wbar .holder").borderStyle, pressed: { adjust: style(".seg [aria-pressed=true]").getPropertyValue("forced-color-adjust"), color: style(".seg [aria-pressed=true]").color, ground: style(".seg [aria-pressed=true]").backgroundColor } };
  });
  // Every colour that covers an area is one of the system's.
  for (const name of ["CanvasText", "LinkText"]) expect(told.counts, name).toContain(told.own[name]);
  // The holder's mark is a third colour, whatever the highlight is mixed with.
  expect(told.counts.length).toBeGreaterThan(3);
  // Where a filled ground tells something, the reader's ground must not hide the letters on it.
  expect(told.pressed.adjust).toBe("none");
  expect(told.pressed.color).not.toBe(told.pressed.ground);
  expect(told.border).toBe("solid");
  expect(told.bar).toBe("solid");
  await clean(page, "forced colours");
});

test("with less motion numbers do not run and nothing glides", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page);
  const seen = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    const number = /** @type {Element} */ (lab.shadowRoot.querySelector("[data-row=a] [data-share]"));
    await lab.setNice("low", 0);
    const at = (number.textContent ?? "").replace(/\s/g, " ");
    return { at, running: lab.shadowRoot.getAnimations().length };
  });
  expect(seen).toEqual({ at: "50.0 %", running: 0 });
});

test("with motion the number runs to its new value, and the bar with it", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await open(page);
  const seen = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    const number = /** @type {Element} */ (lab.shadowRoot.querySelector("[data-row=a] [data-share]"));
    const text = () => (number.textContent ?? "").replace(/\s/g, " ");
    const before = text();
    await lab.setNice("low", 0);
    const first = text();
    await lab.settled();
    return { before, first, last: text() };
  });
  expect(seen).toEqual({ before: "9.7 %", first: "9.7 %", last: "50.0 %" });
});

for (const [width, height] of [[320, 640], [1280, 720], [3840, 2160]]) {
  test(`the tour fits ${width} by ${height} sideways, in both languages`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    for (const lang of ["en", "de"]) {
      await page.goto(`/?tour=5&lang=${lang}`);
      await page.locator("[data-control=tour-show]").click();
      await expect(page.locator(".step .verdict")).toBeVisible();
      await settled(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  });
}

for (const [width, height] of [[1920, 1080], [3840, 2160]]) {
  test(`projected on ${width} by ${height}, type grows with the screen and the pointer still hits`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await open(page, "/?layout=projector");
    expect(await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight])).toEqual([width, height]);
    const number = await page.locator("[data-row=b] [data-share]").boundingBox();
    expect(number?.height).toBeGreaterThan(height / 8);
    // A press in the middle of the plot sets the clock to the middle of the view.
    const stage = await page.locator("[data-control=time]").boundingBox();
    if (!stage) throw new Error("not laid out");
    const at = async (/** @type {number} */ part) => {
      await page.mouse.click(stage.x + stage.width * part, stage.y + stage.height / 2);
      await settled(page);
      return page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().time_ns);
    };
    const [a, b] = [await at(0.5), await at(0.75)];
    const drawn = await page.evaluate(() => {
      // Where the cursor was drawn: right of the names, the darkest column that is painted.
      const canvas = /** @type {HTMLCanvasElement} */ (/** @type {ShadowRoot} */ (/** @type {Element} */ (document.querySelector("reweight-lab")).shadowRoot).querySelector(".both canvas"));
      const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(0, canvas.height - 30, canvas.width, 1);
      const light = (/** @type {number} */ i) => (data[4 * i + 3] < 255 ? 999 : data[4 * i] + data[4 * i + 1] + data[4 * i + 2]);
      let dark = Math.round(0.3 * canvas.width);
      for (let i = dark; i < canvas.width; i++) if (light(i) < light(dark)) dark = i;
      return dark / canvas.width;
    });
    expect(b).toBeGreaterThan(a);
    expect(Math.abs(drawn - 0.75)).toBeLessThan(0.01);
  });
}
