// The tour: what people get wrong, each met by a guess, a run and an answer in a line that says where it comes from.
import { expect, settled, state, test } from "./lab.mjs";

/** Step, percent that the model answers, and what the answer must say. @type {[id: string, percent: number, says: RegExp, evidence: RegExp][]} */
const STEPS = [
  ["weights", 9.7, /9\.3 times as much, not 2\.5/, /^Measured/],
  ["loan", 9.7, /prio, which top prints as PR.*weight, and that stayed 110/, /^Measured/],
  ["patch", 50, /neither real-time nor first in line/, /^Measured/],
  ["waits", 19.4, /shorter, not gone/, /^Modelled/],
  ["release", 75.3, /the loan ends with the last waiter/, /^Measured/],
  ["first", 9.7, /the first to come lends, not the best nice/, /^Measured.*opinion/],
  ["leak", 50, /where 9\.7 is right/, /^Measured.*modelled/],
  ["merged", 52.6, /1134 of 2158/, /^Modelled.*opinion/],
];

/** Opens a step; both rows may be hidden there. @param {import("@playwright/test").Page} page @param {string} address */
async function open(page, address) {
  await page.goto(address);
  await expect(page.locator("#tour-ask")).toBeVisible();
  await settled(page);
}

for (const [i, [id, percent, says, evidence]] of STEPS.entries()) {
  test(`step ${i + 1}, ${id}, opens from its address, asks, and answers ${percent} %`, async ({ page }) => {
    await open(page, `/?tour=${i + 1}`);
    await page.locator("[data-control=guess]").fill("30");
    await page.locator("[data-control=tour-show]").click();
    const verdict = page.locator(".step .verdict");
    await expect(verdict).toContainText(`${percent.toFixed(1)} %`);
    await expect(verdict).toContainText(says);
    await expect(page.locator(".step .said.b")).toContainText(`${percent.toFixed(1)} %`);
    // Every word on the patch says whether it is measured, modelled or opinion.
    await expect(page.locator(".step .evidence")).toHaveText(evidence);
    for (const link of await page.locator(".step .evidence a").all()) await expect(link).toHaveAttribute("href", /^https:\/\/(lore\.kernel\.org|lwn\.net)\//);
    // The address stays that of the step.
    await settled(page);
    expect(new URL(page.url()).search).toBe(`?tour=${i + 1}`);
  });
}

test("groups are not modelled, and the first step says so", async ({ page }) => {
  await open(page, "/?tour=1");
  await page.locator("[data-control=tour-show]").click();
  await expect(page.locator(".step")).toContainText("Groups are not modelled");
});

test("steps about the patch link the public archive", async ({ page }) => {
  for (const [n, link] of /** @type {const} */ ([[2, "lore"], [3, "lore"], [6, "lore"], [7, "lore"], [8, "lwn"]])) {
    await open(page, `/?tour=${n}`);
    await page.locator("[data-control=tour-show]").click();
    await expect(page.locator(`.step .evidence a[href*="${link}"]`).first()).toBeVisible();
  }
});

test("a guess may be skipped, and leaving gives the lab back", async ({ page }) => {
  await open(page, "/?tour=1");
  for (let i = 1; i < STEPS.length; i++) await page.locator("[data-control=tour-skip]").click();
  await expect(page.locator(".step h3")).toContainText("8 of 8");
  await page.locator("[data-control=leave-tour]").click();
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^52\.[56]\s%$/);
  await expect(page).not.toHaveURL(/tour=/);
});

for (const lang of ["en", "de"]) {
  test(`projected, every step fits 1280 by 720 before and after the answer, ${lang}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    for (let n = 1; n <= STEPS.length; n++) {
      await open(page, `/?tour=${n}&layout=projector&lang=${lang}`);
      const fits = async () => {
        await settled(page);
        expect(await page.evaluate(() => document.documentElement.scrollHeight), `step ${n}`).toBeLessThanOrEqual(720);
      };
      await fits();
      await page.locator("[data-control=tour-show]").click();
      await fits();
    }
  });
}

test("in projector mode hands are counted, and the answer tells how many were right", async ({ page }) => {
  /** @type {string[]} */
  const asked = [];
  await page.setViewportSize({ width: 1280, height: 720 });
  await open(page, "/?tour=3&layout=projector");
  const own = new URL(page.url()).origin;
  page.on("request", (r) => new URL(r.url()).origin !== own && asked.push(r.url()));
  const hands = (/** @type {number} */ from) => page.locator(`[data-control="hands:${from}"]`);
  for (const from of [0, 40, 40, 40, 80]) await hands(from).click();
  await hands(80).click({ modifiers: ["Shift"] });
  await expect(hands(40)).toContainText("3");
  await expect(hands(80)).toContainText("0");
  await page.locator("[data-control=tour-show]").click();
  await expect(page.locator(".step")).toContainText("3 of 4");
  // Nothing leaves the room.
  expect(asked).toEqual([]);
  expect((await state(page)).holder).toBe("low");
});
