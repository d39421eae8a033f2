// A guest in somebody's page: what it costs, what it leaves behind, what it leaves alone.
import { expect, open, settled, test } from "./lab.mjs";

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
      await new Promise(requestAnimationFrame);
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

test("the page around stays as it was: tree, styles, focus, keys and what it listens to", async ({ page }) => {
  await page.route("**/guest.html", (route) => route.fulfill({
    contentType: "text/html",
    body: `<!doctype html><html lang="en"><title>Guest</title><link rel="icon" href="data:,"><style>p { color: rgb(1, 2, 3); font: 17px serif } button { all: revert }</style>
      <body><p>Before</p><input id="mine"><section></section><p>After</p>`,
  }));
  await page.goto("/guest.html");
  await page.locator("#mine").focus();
  const look = () => page.evaluate(() => {
    const copy = /** @type {Element} */ (document.documentElement.cloneNode(true));
    for (const lab of copy.querySelectorAll("reweight-lab")) lab.remove();
    const p = getComputedStyle(/** @type {Element} */ (document.querySelector("p")));
    return {
      tree: new XMLSerializer().serializeToString(copy), sheets: document.styleSheets.length, adopted: document.adoptedStyleSheets.length,
      focus: document.activeElement?.id, scroll: window.scrollY, address: location.href, past: history.length, title: document.title,
      p: [...p].map((name) => `${name}: ${p.getPropertyValue(name)}`).filter((line) => !/^(perspective|transform)-origin|block-size|height/.test(line)),
    };
  });
  const before = await look();
  await page.evaluate(async () => {
    const host = /** @type {any} */ (window);
    host.heard = [];
    for (const type of ["keydown", "keyup", "wheel", "pointerdown", "focusin"]) {
      document.addEventListener(type, (e) => host.heard.push([type, e.defaultPrevented]), { passive: true });
    }
    await import(/** @type {any} */ ("/reweight-lab.js"));
    const lab = /** @type {any} */ (document.createElement("reweight-lab"));
    document.querySelector("section")?.append(lab);
    await lab.ready;
    await lab.setNice("low", 3);
    await lab.play();
    const at = lab.timeNs;
    while (lab.timeNs === at) await new Promise(requestAnimationFrame);
    await lab.pause();
    await lab.setPi("stock");
    await lab.settled();
  });
  // What the reader types goes where the reader was.
  await page.keyboard.type(" p?");
  expect(await page.inputValue("#mine")).toBe(" p?");
  expect(await page.evaluate(() => /** @type {any} */ (window).heard.some((/** @type {[string, boolean]} */ [, prevented]) => prevented))).toBe(false);
  expect(await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().playing)).toBe(false);
  expect(await look()).toEqual(before);
});

test("out of view nothing runs, and back in view it goes on", async ({ page }) => {
  await page.goto("/_far.html");
  await page.locator("reweight-lab").scrollIntoViewIfNeeded();
  await settled(page);
  await page.evaluate(() => {
    const own = /** @type {any} */ (window);
    own.frames_ = 0;
    const native = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (f) => native((t) => (own.frames_++, f(t)));
    own.pictures = async (/** @type {number} */ n) => {
      for (let i = 0; i < n; i++) await new Promise(native);
    };
    return /** @type {any} */ (document.querySelector("reweight-lab")).play();
  });
  const time = () => page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).timeNs);
  await expect.poll(time).toBeGreaterThan(0);
  await page.evaluate(() => window.scrollTo(0, 0));
  await settled(page);
  const [at, frames] = [await time(), await page.evaluate(() => /** @type {any} */ (window).frames_)];
  await page.evaluate(() => /** @type {any} */ (window).pictures(30));
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
