// The keys of the timeline, those of Perfetto beside them, and whose they are: the page's until the reader is inside.
import { expect, open, settled, state, test } from "./lab.mjs";

/** What is in view, as the table's title and the picture's ruler tell: asked of the address. @param {import("@playwright/test").Page} page */
async function view(page) {
  await settled(page);
  const [from, to] = (new URL(page.url()).searchParams.get("view") ?? "0-0").split("-").map(Number);
  return { from, to, span: to - from };
}

test("W, S, A and D zoom and pan, F fits, 0 shows all", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=time]").focus();
  await page.keyboard.press("b");
  const before = await view(page);
  await page.keyboard.press("w");
  const near = await view(page);
  expect(near.span).toBeLessThan(before.span * 0.7);
  await page.keyboard.press("s");
  expect((await view(page)).span).toBeCloseTo(before.span, 3);
  await page.keyboard.press("d");
  const right = await view(page);
  expect(right.from).toBeGreaterThan(before.from);
  await page.keyboard.press("a");
  expect((await view(page)).from).toBeCloseTo(before.from, 3);
  await page.keyboard.press("0");
  expect((await view(page)).span).toBeGreaterThan(20);
  // What is selected from the start is fitted.
  await page.keyboard.press("f");
  expect((await view(page)).span).toBeCloseTo(0.04, 3);
});

test("comma and full stop step from decision to decision, Shift and an arrow by a tick", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=time]").focus();
  await page.keyboard.press("b");
  const t0 = (await state(page)).time_ns;
  await page.keyboard.press(".");
  const t1 = (await state(page)).time_ns;
  expect(t1).toBeGreaterThan(t0);
  await page.keyboard.press(",");
  expect((await state(page)).time_ns).toBeLessThan(t1);
  const t2 = (await state(page)).time_ns;
  await page.keyboard.press("Shift+ArrowRight");
  expect((await state(page)).time_ns).toBe(t2 + 1_000_000);
  await page.keyboard.press("r");
  expect((await state(page)).time_ns).toBeGreaterThan(15_000_000_000);
});

test("Escape gives the keys back to the page", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=time]").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  await expect(page.locator("[data-row=b]")).toHaveAttribute("data-pi", "reweight");
});

test("one cursor crosses both runs: the slider tells of both at one time", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=time]").focus();
  await page.keyboard.press("b");
  await expect(page.locator("[data-control=time]")).toHaveAttribute("aria-valuetext", /Stock kernel: .*high is blocked on M.*With the patch: .*high is blocked on M/);
});
