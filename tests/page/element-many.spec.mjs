// Many labs on one page, in counts: what is fetched, started, run, listened to and drawn. No clock decides.
import { expect, settled, test } from "./lab.mjs";

/** @typedef {{ instances: number, memory: WebAssembly.Memory | null, frames: number, timers: number, outside: string[] }} Counts */

/** Opens a page of `n` labs, with counters under the platform's own calls. @param {import("@playwright/test").Page} page @param {number} n */
async function many(page, n) {
  /** @type {string[]} */
  const fetched = [];
  page.on("request", (r) => fetched.push(new URL(r.url()).pathname));
  await page.route("**/many.html", (route) => route.fulfill({
    contentType: "text/html",
    body: `<!doctype html><html lang="en"><title>Many</title><link rel="icon" href="data:,"><script type="module" src="/reweight-lab.js"></script>${"<reweight-lab></reweight-lab>".repeat(n)}`,
  }));
  await page.addInitScript(() => {
    /** @type {Counts} */
    const counts = { instances: 0, memory: null, frames: 0, timers: 0, outside: [] };
    /** @type {any} */ (window).counts = counts;
    for (const name of /** @type {const} */ (["instantiate", "instantiateStreaming"])) {
      const native = /** @type {any} */ (WebAssembly[name]).bind(WebAssembly);
      /** @type {any} */ (WebAssembly)[name] = async (/** @type {any[]} */ ...args) => {
        const made = await native(...args);
        counts.instances++;
        counts.memory = (made.instance ?? made).exports.memory;
        return made;
      };
    }
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (f) => {
      counts.frames++;
      return frame(f);
    };
    const interval = window.setInterval.bind(window);
    /** @type {any} */ (window).setInterval = (/** @type {any[]} */ ...args) => {
      counts.timers++;
      return /** @type {any} */ (interval)(...args);
    };
    const listen = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (/** @type {any[]} */ ...args) {
      // Called without a receiver it is the window's.
      const on = this ?? window;
      if (on === window || on === document || on === document.documentElement || on === document.body) counts.outside.push(args[0]);
      return /** @type {any} */ (listen).apply(on, args);
    };
    // The test's own look at frames, uncounted.
    /** @type {any} */ (window).frame = () => new Promise((done) => frame(done));
  });
  await page.goto("/many.html");
  await settled(page);
  return fetched;
}

/** What there is now. @param {import("@playwright/test").Page} page */
const look = (page) => page.evaluate(() => {
  const labs = /** @type {any[]} */ ([...document.querySelectorAll("reweight-lab")]);
  const { instances, memory, frames, timers, outside } = /** @type {Counts} */ (/** @type {any} */ (window).counts);
  return {
    instances, frames, timers, outside,
    memory: memory?.buffer.byteLength ?? 0,
    sessions: labs.filter((lab) => lab.state().runs.length === 2).length,
    // Those that have not begun: how far below the window, and what they hold.
    waiting: labs.filter((lab) => lab.state().runs.length === 0).map((lab) => ({
      below: lab.getBoundingClientRect().top - innerHeight,
      parts: lab.shadowRoot.querySelectorAll("*").length,
    })),
  };
});

/** Starts all of them. @param {import("@playwright/test").Page} page */
async function startAll(page) {
  await page.evaluate(async () => {
    for (const lab of document.querySelectorAll("reweight-lab")) await /** @type {any} */ (lab).pause();
  });
  await settled(page);
}

/** Live nodes and listeners, after a collection. @param {import("@playwright/test").Page} page */
async function held(page) {
  const devtools = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i++) await devtools.send("HeapProfiler.collectGarbage");
  const { nodes, jsEventListeners } = await devtools.send("Memory.getDOMCounters");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  await devtools.detach();
  return { nodes, listeners: jsEventListeners, heap: usedSize };
}

/** Lets the browser draw so many pictures. @param {import("@playwright/test").Page} page @param {number} n */
const pictures = (page, n) => page.evaluate(async (n) => {
  for (let i = 0; i < n; i++) await /** @type {any} */ (window).frame();
}, n);

test("of twenty, those out of view have not begun, and nothing ticks", async ({ page }) => {
  const fetched = await many(page, 20);
  const before = await look(page);
  expect(before.sessions).toBeGreaterThan(0);
  expect(before.sessions + before.waiting.length).toBe(20);
  expect(before.waiting.length).toBeGreaterThan(15);
  for (const { below, parts } of before.waiting) {
    expect(below).toBeGreaterThan(0);
    // The slot for what the author wrote, and nothing else.
    expect(parts).toBe(1);
  }
  expect(before.instances).toBe(1);
  expect(before.timers).toBe(0);
  const asked = fetched.length;
  await pictures(page, 30);
  const after = await look(page);
  expect(after.frames).toBe(before.frames);
  expect(after.sessions).toBe(before.sessions);
  expect(fetched.length).toBe(asked);
});

test("twenty fetch what one fetches, and share one WebAssembly", async ({ page, context }) => {
  const one = [...await many(page, 1)];
  const alone = await look(page);
  const other = await context.newPage();
  const twenty = await many(other, 20);
  await startAll(other);
  const together = await look(other);
  expect(together.sessions).toBe(20);
  expect(together.instances).toBe(1);
  expect([...twenty].sort()).toEqual([...one].sort());
  expect(twenty.length).toBe(new Set(twenty).size);
  // What listens outside is as often there as there are labs, and no oftener.
  expect(together.outside.length).toBeLessThanOrEqual(20 * alone.outside.length);
  expect(together.timers).toBe(0);
});

test("nodes, listeners and memory grow with their number, not faster", async ({ page }) => {
  /** @type {Record<number, Awaited<ReturnType<typeof held>> & { memory: number }>} */
  const at = {};
  for (const n of [1, 10, 20]) {
    await page.unrouteAll();
    await many(page, n);
    await startAll(page);
    const { sessions, memory } = await look(page);
    expect(sessions).toBe(n);
    at[n] = { ...await held(page), memory };
  }
  for (const what of /** @type {const} */ (["nodes", "listeners", "heap", "memory"])) {
    const first = (at[10][what] - at[1][what]) / 9;
    const later = (at[20][what] - at[10][what]) / 10;
    // A quarter for what pools and rounds; a square would double it. The script's heap has more in it than labs.
    expect(later, what).toBeLessThan(first * 1.25 + (what === "heap" ? 50_000 : 1));
  }
  // What docs/embedding.md says of each: about 330 nodes, 35 listeners and 0.85 MB.
  expect((at[20].nodes - at[10].nodes) / 10).toBeLessThan(400);
  expect((at[20].listeners - at[10].listeners) / 10).toBeLessThan(45);
  expect((at[20].heap + at[20].memory - at[10].heap - at[10].memory) / 10).toBeLessThan(1_000_000);
});

test("all twenty told to play: only those in view ask for frames, the others' clocks stand", async ({ page }) => {
  await many(page, 20);
  await page.evaluate(async () => {
    for (const lab of document.querySelectorAll("reweight-lab")) await /** @type {any} */ (lab).play();
    scrollTo(0, 0);
  });
  await settled(page);
  const { before, after, asked } = await page.evaluate(async () => {
    const own = /** @type {any} */ (window);
    const clocks = () => [...document.querySelectorAll("reweight-lab")].map((lab) => {
      const { top, bottom } = lab.getBoundingClientRect();
      return { time: /** @type {any} */ (lab).timeNs, near: bottom > -400 && top < innerHeight + 400 };
    });
    const before = clocks();
    const { frames } = own.counts;
    for (let i = 0; i < 30; i++) await own.frame();
    return { before, after: clocks(), asked: own.counts.frames - frames };
  });
  const near = before.filter((c) => c.near).length;
  expect(near).toBeLessThan(5);
  for (const [i, { time, near }] of before.entries()) {
    if (!near) expect(after[i].time, `lab ${i}`).toBe(time);
  }
  expect(after[0].time).toBeGreaterThan(before[0].time);
  // Two a picture at most: the clock's, and the drawing's that follows it.
  expect(asked).toBeLessThanOrEqual(near * 2 * 31);
});
