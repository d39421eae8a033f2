// Sheets to print: blank and solved from one scenario; exercises that a seed brings back, with the model's answers.
import { expect, test, violations } from "./lab.mjs";

/** @param {import("@playwright/test").Page} page @param {string} address */
async function open(page, address) {
  await page.goto(address);
  await expect(page.locator("html[data-ready]")).toBeAttached();
}

/** @param {import("@playwright/test").Page} page */
const words = (page) => page.locator(".page").allInnerTexts();

/** sched_prio_to_weight around nice 0, for the closed form. @param {number} nice */
const weight = (nice) => [9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15][nice + 10];

test("the same seed gives the same exercises, another seed others", async ({ page }) => {
  await open(page, "/sheet.html?seed=42");
  const first = await words(page);
  expect(first).toHaveLength(2);
  await open(page, "/sheet.html?seed=42");
  expect(await words(page)).toEqual(first);
  await open(page, "/sheet.html?seed=43");
  expect((await words(page))[1]).not.toBe(first[1]);
});

test("answers are the model's, near the closed form", async ({ page }) => {
  for (const seed of [1, 7, 42, 999999]) {
    await open(page, `/sheet.html?seed=${seed}`);
    const ask = (/** @type {string} */ id) => page.locator(`[data-answer=${id}]`).innerText();
    const numbers = (/** @type {string} */ text) => [...text.replaceAll("−", "-").matchAll(/-?\d+(?:\.\d+)?/g)].map((m) => Number(m[0]));
    // "low is at nice L, bg at nice B ...", then the two shares.
    const [l, b, x, y] = numbers(await ask("weights"));
    const sum = weight(l) + weight(b);
    expect(Math.abs(x - (100 * weight(l)) / sum), `seed ${seed}`).toBeLessThan(0.3);
    expect(Math.abs(y - (100 * weight(b)) / sum), `seed ${seed}`).toBeLessThan(0.3);
    const [low, high, bg, stock, patched] = numbers(await ask("shares"));
    expect(Math.abs(stock - (100 * weight(low)) / (weight(low) + weight(bg))), `seed ${seed}`).toBeLessThan(0.6);
    expect(Math.abs(patched - (100 * weight(high)) / (weight(high) + weight(bg))), `seed ${seed}`).toBeLessThan(0.6);
    const [own, lender, pr, ni, plain, lent] = numbers(await ask("top"));
    expect([pr, ni, plain, lent], `seed ${seed}`).toEqual([20 + lender, own, weight(own), weight(lender)]);
  }
});

test("blank and solved come from one scenario, and only the solved one tells", async ({ page }) => {
  await open(page, "/sheet.html?low-nice=15&kernel=6.1");
  const [blank, solved] = await words(page);
  expect(blank).toContain("Linux 6.1");
  expect(blank).not.toMatch(/\d %/);
  expect(blank).not.toContain("owned by low");
  expect(solved).toContain("owned by low");
  await expect(page.locator("[data-sheet-share]").nth(0)).toHaveText("3.4 %");
  await expect(page.locator("[data-sheet-share]").nth(1)).toHaveText("50.0 %");
  await open(page, "/sheet.html?low-nice=15&key=0");
  expect(await words(page)).toHaveLength(1);
});

test("a bad value is said and the rest is kept", async ({ page }) => {
  await open(page, "/sheet.html?kernel=9.9&low-nice=5&preset=none");
  await expect(page.locator(".note")).toHaveCount(2);
  await expect(page.locator("[data-sheet-share]").nth(0)).toHaveText(/^24\.[67] %$/);
  await open(page, "/sheet.html?seed=many");
  await expect(page.locator(".note")).toContainText("seed=many");
});

test("printed, each sheet is one page and the tools are gone", async ({ page }) => {
  for (const address of ["/sheet.html", "/sheet.html?seed=3", "/sheet.html?seed=3&lang=de", "/sheet.html?preset=nested-locks-inner-first"]) {
    await open(page, address);
    await page.emulateMedia({ media: "print" });
    await expect(page.locator(".tools")).toBeHidden();
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    expect((pdf.match(/\/Type\s*\/Page\b/g) ?? []).length, address).toBe(2);
    await page.emulateMedia({ media: "screen" });
  }
});

test("axe finds nothing on the sheets, in either language", async ({ page }) => {
  for (const address of ["/sheet.html", "/sheet.html?seed=5", "/sheet.html?lang=de", "/sheet.html?seed=5&lang=de"]) {
    await open(page, address);
    expect(await violations(page), address).toEqual([]);
  }
});

for (const width of [320, 1280, 3840]) {
  test(`sheets do not scroll sideways at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const address of ["/sheet.html", "/sheet.html?seed=5&lang=de"]) {
      await open(page, address);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  });
}

test("the lab's dialog leads to the sheet of what is shown", async ({ page }) => {
  await page.goto("/?low-nice=19");
  await page.locator("[data-control=save]").click();
  await expect(page.locator("[data-control=sheet]")).toHaveAttribute("href", /\/sheet\.html\?low-nice=19/);
});
