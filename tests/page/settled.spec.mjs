// `settled()`: a promise that says "drawn, nothing pending", for tests of pages with a lab in them.
import { expect, open, plain, settled, test } from "./lab.mjs";

/** Awaits the first lab's, as a stranger's test does; the error's words when it is refused. @param {import("@playwright/test").Page} page */
const rest = (page) => page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).settled().then(() => null, (/** @type {Error} */ e) => ({ message: e.message, cause: e.cause })));

test("after a change, number, picture, address and what a screen reader hears are those of the change", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await open(page);
  const seen = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    const canvas = /** @type {HTMLCanvasElement} */ (lab.shadowRoot.querySelector(".both canvas"));
    const told = () => ({
      number: lab.shadowRoot.querySelector("[data-row=a] [data-share]").textContent.replace(/\s/g, " "),
      moving: lab.shadowRoot.getAnimations().length, picture: canvas.toDataURL(), address: location.search,
      heard: lab.shadowRoot.querySelector(".live").textContent,
    });
    const before = told();
    await lab.setNice("low", 0);
    await lab.seek(lab.timeNs + 5e6);
    await lab.settled();
    const after = told();
    // And so they stay: the quiet that address and speech wait for is over by then.
    const native = requestAnimationFrame;
    for (const t0 = performance.now(); performance.now() < t0 + 700; ) await new Promise(native);
    return { before, after, later: told() };
  });
  expect(seen.after.number).toBe("50.0 %");
  expect(seen.after.moving).toBe(0);
  expect(seen.after.address).toContain("low-nice=0");
  expect(seen.after.heard).toContain("50.0");
  expect(seen.after.picture).not.toBe(seen.before.picture);
  expect(seen.later).toEqual(seen.after);
});

test("`ready` comes with the picture painted", async ({ page }) => {
  await page.route("**/late.html", (route) => route.fulfill({ contentType: "text/html", body: '<!doctype html><title>Late</title><link rel="icon" href="data:,">' }));
  await page.goto("/late.html");
  const [atReady, atRest] = await page.evaluate(async () => {
    await import(/** @type {any} */ ("/reweight-lab.js"));
    const lab = /** @type {any} */ (document.createElement("reweight-lab"));
    document.body.append(lab);
    await lab.ready;
    const picture = () => /** @type {HTMLCanvasElement} */ (lab.shadowRoot.querySelector("canvas")).toDataURL();
    const first = picture();
    await lab.settled();
    return [first, picture()];
  });
  expect(atReady.length).toBeGreaterThan(2000);
  expect(atReady).toBe(atRest);
});

test("out of view it settles without beginning; come near, with its picture", async ({ page }) => {
  await page.goto("/_far.html");
  await settled(page);
  const runs = () => page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().runs.length);
  expect(await runs()).toBe(0);
  await page.locator("reweight-lab").scrollIntoViewIfNeeded();
  await settled(page);
  expect(await runs()).toBe(2);
  await expect(page.locator("[data-row=b] [data-share]")).toHaveAttribute("value", /\d/);
});

test("a clock that runs is no unrest, in view or out of it", async ({ page }) => {
  await open(page, "/_embed.html");
  const times = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    await lab.play();
    await lab.settled();
    const seen = [lab.playing, lab.timeNs];
    lab.style.marginTop = "9000px";
    await lab.settled();
    return [...seen, lab.playing];
  });
  expect(times).toEqual([true, expect.any(Number), true]);
});

test("in no document it is at rest, and taken out while somebody waits it is as well", async ({ page }) => {
  await open(page, "/_embed.html");
  const settledTo = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    const waiting = lab.settled();
    lab.remove();
    return [(await waiting) === lab, (await lab.settled()) === lab];
  });
  expect(settledTo).toEqual([true, true]);
});

plain("it rejects with the sentence that is shown, however often it is asked; and settles once it can start", async ({ page }) => {
  let fails = true;
  await page.route("**/*.wasm", (route) => (fails ? route.fulfill({ status: 503 }) : route.continue()));
  await page.goto("/_embed.html");
  const error = await rest(page);
  expect(error?.cause).toBe("status");
  expect(error?.message).toContain("503");
  const shown = await page.locator("reweight-lab .note").textContent();
  expect(shown).toBe(error?.message);
  expect(await rest(page)).toEqual(error);
  // Asking has not tried again; a call does.
  fails = false;
  expect(await rest(page)).toEqual(error);
  expect(await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).pause().then(() => "began"))).toBe("began");
  expect(await rest(page)).toBeNull();
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^50\.0\s%$/);
});

plain("without its core it rejects as well", async ({ page }) => {
  await page.route("**/core/start.js", (route) => route.fulfill({ status: 404 }));
  await page.goto("/_embed.html");
  expect(await rest(page)).toEqual({ cause: "import", message: expect.stringContaining("core/start.js") });
});

test("while they start, labs keep their room, so that those below do not begin as well", async ({ page }) => {
  await page.route("**/twenty.html", (route) => route.fulfill({
    contentType: "text/html",
    body: `<!doctype html><html lang="en"><title>Twenty</title><link rel="icon" href="data:,"><script type="module" src="/reweight-lab.js"></script>${"<reweight-lab></reweight-lab>".repeat(20)}`,
  }));
  /** @type {() => void} */
  let go = () => {};
  const held = new Promise((/** @type {(v?: any) => void} */ done) => (go = done));
  await page.route("**/*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/twenty.html");
  // The first ones show the result as a figure, which is lower than the lab will be.
  await expect(page.locator("reweight-lab").first().locator(".figure")).toBeVisible();
  const look = () => page.evaluate(async () => {
    // What is in view by now is told with the next two pictures.
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    const labs = [...document.querySelectorAll("reweight-lab")];
    return { least: Math.min(...labs.map((lab) => lab.getBoundingClientRect().height)), begun: labs.filter((lab) => (lab.shadowRoot?.querySelectorAll("*").length ?? 0) > 1).length };
  });
  const { least, begun } = await look();
  expect(least).toBeGreaterThanOrEqual(320);
  // 720 px of the window and 400 below it.
  expect(begun).toBe(4);
  go();
  await settled(page);
  expect((await look()).begun).toBe(4);
});
