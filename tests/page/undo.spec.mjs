// Undo and redo: what a reader does in one go is one step, back and forth, by button and by key.
import { expect, open, settled, test } from "./lab.mjs";

/** Drags a slider from one nice to another in many moves. @param {import("@playwright/test").Page} page @param {string} task @param {number} from @param {number} to */
async function drag(page, task, from, to) {
  const slider = page.locator(`[data-control='nice:${task}']`);
  await slider.scrollIntoViewIfNeeded();
  await settled(page);
  const box = await slider.boundingBox();
  if (!box) throw new Error("the slider is not laid out");
  const at = (/** @type {number} */ nice) => box.x + 10 + ((nice + 20) / 39) * (box.width - 20);
  const y = box.y + box.height / 2;
  await page.mouse.move(at(from), y);
  await page.mouse.down();
  await page.mouse.move(at(to), y, { steps: 12 });
  await page.mouse.up();
  await expect(slider).toHaveValue(String(to));
}

test("a drag over many values is one step back and one forth", async ({ page }) => {
  await open(page);
  const low = page.locator("[data-control='nice:low']");
  await drag(page, "low", 10, -10);
  await drag(page, "high", 0, 8);
  await page.locator("[data-control=undo]").click();
  await expect(page.locator("[data-control='nice:high']")).toHaveValue("0");
  await expect(low).toHaveValue("-10");
  await page.locator("[data-control=undo]").click();
  await expect(low).toHaveValue("10");
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
  await expect(page.locator("[data-control=undo]")).toHaveAttribute("aria-disabled", "true");
  await page.locator("[data-control=redo]").click();
  await expect(low).toHaveValue("-10");
  await page.locator("[data-control=redo]").click();
  await expect(page.locator("[data-control='nice:high']")).toHaveValue("8");
  await expect(page.locator("[data-control=redo]")).toHaveAttribute("aria-disabled", "true");
});

test("each press of a key is a step, a key held down is one", async ({ page }) => {
  await open(page);
  const low = page.locator("[data-control='nice:low']");
  await low.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(low).toHaveValue("8");
  await page.keyboard.press("Control+z");
  await expect(low).toHaveValue("9");
  for (let i = 0; i < 5; i++) await page.keyboard.down("ArrowRight");
  await page.keyboard.up("ArrowRight");
  await expect(low).toHaveValue("14");
  await page.keyboard.press("Control+z");
  await expect(low).toHaveValue("9");
  await page.keyboard.press("Control+Shift+z");
  await expect(low).toHaveValue("14");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+y");
  await expect(low).toHaveValue("14");
});

test("undo takes back a switch, a kernel, a new task and a reset; a change ends what could be redone", async ({ page }) => {
  await open(page);
  const undo = page.locator("[data-control=undo]");
  await page.locator("[data-control=pi]").click();
  await page.locator("[data-control=kernel]").selectOption("6.1");
  await page.locator("[data-control=tasks]").click();
  await page.locator("[data-control=add-name]").fill("extra");
  await page.locator("[data-control=add-task]").click();
  await page.locator("[data-control=close]").click();
  await expect(page.locator("[data-control='nice:extra']")).toBeVisible();
  await page.locator("[data-control=reset]").click();
  await expect(page.locator("[data-control='nice:extra']")).toHaveCount(0);
  await undo.click();
  await expect(page.locator("[data-control='nice:extra']")).toBeVisible();
  await expect(page).toHaveURL(/[?&]w=/);
  await undo.click();
  await expect(page.locator("[data-control='nice:extra']")).toHaveCount(0);
  // Without the task it is the preset again, and the address says so.
  await expect(page).toHaveURL(/kernel=6\.1/);
  await expect(page).not.toHaveURL(/[?&]w=/);
  await undo.click();
  await expect(page.locator("[data-control=kernel]")).toHaveValue("6.12");
  await undo.click();
  await expect(page.locator("[data-row=b]")).toHaveAttribute("data-pi", "reweight");
  await page.locator("[data-control=hz]").selectOption("250");
  await expect(page.locator("[data-control=redo]")).toHaveAttribute("aria-disabled", "true");
});
