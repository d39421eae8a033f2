// Everyone: no violation that axe can find in any state, no sideways scroll, no words missing.
import { readFileSync } from "node:fs";
import { expect, open, settled, test, violations } from "./lab.mjs";

/** @param {import("@playwright/test").Page} page */
const clean = async (page) => expect(await violations(page)).toEqual([]);

/** Brings the sections further down. @param {import("@playwright/test").Page} page */
async function whole(page) {
  await page.evaluate(() => scrollTo(0, 2000));
  await expect(page.locator("#patch")).toBeVisible();
  await page.evaluate(() => scrollTo(0, 0));
  await settled(page);
}

for (const scheme of /** @type {const} */ (["light", "dark"])) {
  test(`axe finds nothing on the lab page, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page);
    await whole(page);
    await clean(page);
  });
}

test("axe finds nothing on any step of the tour", async ({ page }) => {
  test.setTimeout(600_000);
  await open(page);
  await page.locator("[data-control=tour]").click();
  for (let i = 0; i < 8; i++) {
    await expect(page.locator("[data-control=tour-show]")).toBeVisible();
    await clean(page);
    await page.locator("[data-control=tour-show]").click();
    await clean(page);
    await page.locator("[data-control=tour-next]").click();
  }
});

for (const name of ["keys", "share", "save", "tasks", "table"]) {
  test(`axe finds nothing with the dialog "${name}"`, async ({ page }) => {
    await open(page);
    await page.locator(`[data-control=${name}]`).first().click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await clean(page);
  });
}

test("axe finds nothing in projector mode", async ({ page }) => {
  await open(page, "/?layout=projector");
  await clean(page);
});

test("axe finds nothing on the embedded lab", async ({ page }) => {
  await open(page, "/_embed.html");
  await clean(page);
});

for (const width of [320, 360, 640, 768, 1024, 1280, 3840]) {
  test(`nothing scrolls sideways at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await open(page);
    await whole(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    if (width < 1000) {
      await open(page, "/_embed.html");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  });
}

test("projected, it fits 1280 by 720 and no text is below 20 px", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await open(page, "/?layout=projector");
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(720);
  const small = await page.evaluate(() => {
    const root = /** @type {ShadowRoot} */ (document.querySelector("reweight-lab")?.shadowRoot);
    return [...root.querySelectorAll("*")].filter((e) => e.checkVisibility() && !e.classList.contains("sr") && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) < 20).map((e) => e.className);
  });
  expect(small).toEqual([]);
});

test("German is spoken when the page is German", async ({ page }) => {
  await open(page, "/?lang=de");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("hält das Lock");
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9,7\s%$/);
});

test("no sentence is missing in a language, and holes agree", () => {
  const read = (/** @type {string} */ lang) => JSON.parse(readFileSync(new URL(`../../www/locales/${lang}.json`, import.meta.url), "utf8"));
  const en = read("en");
  const de = read("de");
  const holes = (/** @type {string} */ s) => [...new Set(s.match(/\{\w+\}/g))].sort().join();
  for (const key of Object.keys(en)) {
    expect(de, key).toHaveProperty([key]);
    expect(holes(de[key]), key).toBe(holes(en[key]));
  }
  // Scenarios are in English where they are defined; the other language has them all.
  for (const key of Object.keys(de)) if (!key.startsWith("preset-")) expect(en, key).toHaveProperty([key]);
});

test("the live region stays calm: one sentence after the last change", async ({ page }) => {
  await open(page);
  const said = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    /** @type {string[]} */
    const heard = [];
    const live = /** @type {Element} */ (lab.shadowRoot.querySelector(".live"));
    const spoken = new Promise((done) => {
      new MutationObserver(() => done(heard.push(live.textContent ?? ""))).observe(live, { childList: true, characterData: true, subtree: true });
    });
    for (let n = 9; n > 0; n--) await lab.setNice("low", n);
    // By itself, and nothing is left to be said.
    await spoken;
    await lab.settled();
    return heard;
  });
  expect(said).toEqual([expect.stringMatching(/low/)]);
});
