// A guest in somebody's page: what it costs, what it leaves behind, what it leaves alone.
import { expect, open, test } from "./lab.mjs";

const READY = () => [...document.querySelectorAll("reweight-lab")].every((lab) => /** @type {any} */ (lab).state().runs.length === 2);

/** Bytes of script and WebAssembly in use, after a collection; and live nodes and listeners. @param {import("@playwright/test").Page} page */
async function used(page) {
  const devtools = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i++) await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await devtools.send("Memory.getDOMCounters");
  await devtools.detach();
  return { usedSize, nodes, jsEventListeners };
}

test("put in, moved and taken out fifty times it leaves nothing behind", async ({ page }) => {
  await open(page, "/_embed.html");
  const round = (/** @type {number} */ times) => page.evaluate(async (n) => {
    const main = /** @type {Element} */ (document.querySelector("main"));
    for (let i = 0; i < n; i++) {
      const lab = /** @type {any} */ (document.createElement("reweight-lab"));
      main.prepend(lab);
      await lab.ready;
      main.append(lab);
      lab.remove();
      await new Promise((done) => setTimeout(done, 20));
    }
  }, times);
  await round(5);
  const before = await used(page);
  await round(25);
  const middle = await used(page);
  await round(25);
  const after = await used(page);
  // One lab kept would be some 700 nodes and 100 listeners.
  expect(after.nodes - before.nodes).toBeLessThan(700);
  expect(after.jsEventListeners - before.jsEventListeners).toBeLessThan(100);
  expect(after.usedSize - middle.usedSize).toBeLessThan(1e6);
});

test("twenty on one page: those out of view cost nothing, and what each costs does not grow", async ({ page }) => {
  await page.route("**/many.html*", (route) => {
    const n = Number(new URL(route.request().url()).searchParams.get("n"));
    return route.fulfill({ contentType: "text/html", body: `<!doctype html><html lang="en"><title>Many</title><link rel="icon" href="data:,"><script type="module" src="/reweight-lab.js"></script>${"<reweight-lab></reweight-lab>".repeat(n)}` });
  });
  /** @type {Record<number, number>} */
  const nodes = {};
  for (const n of [1, 10, 20]) {
    await page.goto(`/many.html?n=${n}`);
    if (n === 20) {
      await page.waitForFunction(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().runs.length === 2);
      // Each is hundreds of pixels high once it is up; the last ones have not begun.
      expect(await page.evaluate(() => /** @type {any} */ ([...document.querySelectorAll("reweight-lab")].at(-1)).state().runs.length)).toBe(0);
    }
    await page.evaluate(async () => {
      for (const lab of document.querySelectorAll("reweight-lab")) await /** @type {any} */ (lab).pause();
    });
    await page.waitForFunction(READY);
    nodes[n] = (await used(page)).nodes;
  }
  const [first, later] = [(nodes[10] - nodes[1]) / 9, (nodes[20] - nodes[10]) / 10];
  expect(later).toBeLessThan(first * 1.25 + 50);
});

test("out of view nothing runs, and back in view it goes on", async ({ page }) => {
  await page.goto("/_far.html");
  await page.locator("reweight-lab").scrollIntoViewIfNeeded();
  await page.waitForFunction(READY);
  await page.evaluate(() => {
    const own = /** @type {any} */ (window);
    own.frames_ = 0;
    const native = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (f) => native((t) => (own.frames_++, f(t)));
    return /** @type {any} */ (document.querySelector("reweight-lab")).play();
  });
  const time = () => page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).timeNs);
  await expect.poll(time).toBeGreaterThan(0);
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.waitForTimeout(300);
  const [at, frames] = [await time(), await page.evaluate(() => /** @type {any} */ (window).frames_)];
  await page.waitForTimeout(500);
  expect(await time()).toBe(at);
  expect(await page.evaluate(() => /** @type {any} */ (window).frames_)).toBe(frames);
  await page.locator("reweight-lab").scrollIntoViewIfNeeded();
  await expect.poll(time).toBeGreaterThan(at);
});

test("seek and step need no clock: the same calls, the same picture", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const run = async () => {
    await open(page, "/_embed.html");
    return page.evaluate(async () => {
      const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
      const seen = [];
      await lab.seek(4.5e9);
      for (let i = 0; i < 5; i++) {
        await lab.step();
        seen.push(lab.timeNs);
      }
      await lab.step(-1);
      seen.push(lab.timeNs, JSON.stringify(lab.state()));
      return seen;
    });
  };
  const first = await run();
  expect(first[4]).toBeGreaterThan(Number(first[0]));
  expect(first[5]).toBe(first[3]);
  expect(await run()).toEqual(first);
});

test("reduced motion: nothing is animated", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await open(page, "/_embed.html");
  await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).setPi("stock"));
  expect(await page.evaluate(() => document.querySelector("reweight-lab")?.shadowRoot?.getAnimations().length ?? 0)).toBe(0);
});

test("no name, no word on the console, no storage, no cookie", async ({ page }) => {
  /** @type {string[]} */
  const said = [];
  page.on("console", (m) => said.push(m.text()));
  await page.route("**/bare.html", (route) => route.fulfill({ contentType: "text/html", body: '<!doctype html><title>Bare</title><link rel="icon" href="data:,">' }));
  await page.goto("/bare.html");
  const { added, stored } = await page.evaluate(async () => {
    const names = Object.getOwnPropertyNames(window);
    await import(/** @type {any} */ ("/reweight-lab.js"));
    const lab = /** @type {any} */ (document.createElement("reweight-lab"));
    document.body.append(lab);
    await lab.ready;
    await lab.setNice("low", 3);
    return { added: Object.getOwnPropertyNames(window).filter((n) => !names.includes(n)), stored: localStorage.length + sessionStorage.length + document.cookie.length };
  });
  expect(added).toEqual([]);
  expect(stored).toBe(0);
  expect(said).toEqual([]);
});

test("the wheel over it scrolls the page", async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 400 });
  await open(page, "/_embed.html");
  const canvas = page.locator("reweight-lab canvas").first();
  await canvas.scrollIntoViewIfNeeded();
  const box = /** @type {{ x: number, y: number, width: number, height: number }} */ (await canvas.boundingBox());
  await page.mouse.move(box.x + box.width / 2, Math.min(390, Math.max(10, box.y + box.height / 2)));
  const before = await page.evaluate(() => window.scrollY);
  const most = await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
  await page.mouse.wheel(0, before < most ? 120 : -120);
  await expect.poll(() => page.evaluate(() => window.scrollY)).not.toBe(before);
});
