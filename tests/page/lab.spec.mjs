// The lab page: the numbers stand, and every control moves them.
import { expect, open, settled, shown, state, test } from "./lab.mjs";

test("shows 9.7 % and 50.0 % side by side", async ({ page }) => {
  await open(page);
  const a = await shown(page, "a");
  const b = await shown(page, "b");
  expect(a.value).toBeGreaterThan(0.0965);
  expect(a.value).toBeLessThan(0.0975);
  expect(b.value).toBeGreaterThan(0.4995);
  expect(b.value).toBeLessThan(0.5005);
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^50\.0\s%$/);
});

test("state() tells exactly what is shown", async ({ page }) => {
  await open(page);
  const s = await state(page);
  expect(s.format).toBe(1);
  expect(s.holder).toBe("low");
  expect(s.runs.map((/** @type {any} */ r) => [r.row, r.pi])).toEqual([["a", "stock"], ["b", "reweight"]]);
  for (const [i, row] of /** @type {const} */ (["a", "b"]).entries()) {
    const boosted = s.runs[i].windows.find((/** @type {any} */ w) => w.name === "boosted");
    expect((await shown(page, row)).value).toBe(boosted.tasks.low.share);
  }
});

test("a nice slider dragged re-runs everything at once", async ({ page }) => {
  await open(page);
  const slider = page.locator("[data-control='nice:low']");
  await slider.scrollIntoViewIfNeeded();
  await settled(page);
  const box = await slider.boundingBox();
  if (!box) throw new Error("the slider is not laid out");
  const at = (/** @type {number} */ nice) => box.x + 10 + ((nice + 20) / 39) * (box.width - 20);
  await page.mouse.move(at(10), box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(at(5), box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await expect(slider).toHaveValue("5");
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^24\.[67]\s%$/);
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^50\.0\s%$/);
  await expect(page.locator("reweight-lab")).toHaveAttribute("low-nice", "5");
});

test("slider, number and keys are one value", async ({ page }) => {
  await open(page);
  const slider = page.locator("[data-control='nice:high']");
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await expect(slider).toHaveValue("-1");
  await expect(page.locator("[data-control='nice-number:high']")).toHaveValue("-1");
  await page.locator("[data-control='nice-number:high']").fill("-10");
  await page.locator("[data-control='nice-number:high']").press("Enter");
  await expect(slider).toHaveValue("-10");
  // The waiter's nice -10 lends 9548, not 1024.
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^90\.3\s%$/);
});

test("a nice value outside the range is refused with the range", async ({ page }) => {
  await open(page);
  await page.locator("[data-control='nice-number:low']").fill("99");
  await page.locator("[data-control='nice-number:low']").press("Enter");
  await expect(page.locator(".note").first()).toContainText("-20 to 19");
  await expect(page.locator("[data-control='nice:low']")).toHaveValue("10");
  const message = await page.evaluate(async () => /** @type {any} */ (document.querySelector("reweight-lab")).setNice("low", 20).catch((/** @type {any} */ e) => e.message));
  expect(message).toContain("-20..19");
});

test("the patch switch changes row b only", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=pi]").click();
  await expect(page.locator("[data-row=b]")).toHaveAttribute("data-pi", "stock");
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^9\.7\s%$/);
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
  await page.locator("[data-control=pi]").click();
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^50\.0\s%$/);
});

test("kernel, HZ and scenario are chosen and say so", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=kernel]").selectOption("6.1");
  await page.locator("[data-control=hz]").selectOption("250");
  expect((await state(page)).kernel).toBe("6.1");
  expect((await state(page)).hz).toBe(250);
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^(49\.9|50\.[01])\s%$/);
  await page.locator("[data-control=preset]").selectOption("pi-test");
  expect((await state(page)).workload).toBe("pi-test");
});

test("play, step, seek and reset move the clock", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=play]").click();
  await expect(page.locator("[data-control=play]")).toHaveAttribute("aria-label", "Pause");
  const before = (await state(page)).time_ns;
  await expect.poll(async () => (await state(page)).time_ns).toBeGreaterThan(before);
  await page.locator("[data-control=play]").click();
  const after = await state(page);
  expect(after.playing).toBe(false);
  expect(after.time_ns).toBeGreaterThan(before);
  // While a run is played nothing beyond the clock is told.
  for (const w of after.runs[1].windows) expect(w.to_ns).toBeLessThanOrEqual(after.time_ns);
  await page.locator("[data-control=step]").click();
  expect((await state(page)).time_ns).toBeGreaterThan(after.time_ns);
  await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).seek(5_000_000_000));
  expect((await state(page)).time_ns).toBe(5_000_000_000);
  await page.locator("[data-control=reset]").click();
  expect((await state(page)).time_ns).toBe(0);
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^50\.0\s%$/);
});

test("a nice moved while playing acts from then on", async ({ page }) => {
  await open(page);
  await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    await lab.play();
    await lab.seek(8_000_000_000);
    await lab.pause();
    await lab.setNice("bg", 19);
  });
  const workload = JSON.parse(await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).workload()));
  expect(workload.lab.controls).toEqual([expect.objectContaining({ at: 8_000_000, task: "bg", nice: 19 })]);
});

test("the keyboard does all of it", async ({ page }) => {
  await open(page);
  const cursor = page.locator("[data-control=time]");
  await cursor.focus();
  const t0 = (await state(page)).time_ns;
  await page.keyboard.press("ArrowRight");
  expect((await state(page)).time_ns).toBeGreaterThan(t0);
  await page.keyboard.press("Home");
  expect((await state(page)).time_ns).toBe(0);
  await page.keyboard.press("b");
  await expect(cursor).toHaveAttribute("aria-valuetext", /after the boost.*high is blocked on M/);
  await page.keyboard.press("p");
  await expect(page.locator("[data-row=b]")).toHaveAttribute("data-pi", "stock");
  await page.keyboard.press("Control+z");
  await expect(page.locator("[data-row=b]")).toHaveAttribute("data-pi", "reweight");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("the address holds what was changed, and gives it back", async ({ page }) => {
  await open(page);
  await page.locator("[data-control='nice-number:low']").fill("15");
  await page.locator("[data-control='nice-number:low']").press("Enter");
  await page.locator("[data-control=kernel]").selectOption("6.1");
  await expect(page).toHaveURL(/low-nice=15/);
  await expect(page).toHaveURL(/kernel=6\.1/);
  const told = await shown(page, "a");
  await open(page, page.url());
  expect((await shown(page, "a")).value).toBe(told.value);
  await expect(page.locator("[data-control='nice:low']")).toHaveValue("15");
});

test("a bad value in the address is said and the rest is kept", async ({ page }) => {
  await open(page, "/?low-nice=99&kernel=9.9&hz=250&preset=nothing&nonsense=1");
  await expect(page.locator(".messages")).toContainText("low-nice=99");
  await expect(page.locator(".messages")).toContainText("kernel=9.9");
  await expect(page.locator(".messages")).toContainText("preset=nothing");
  await expect(page.locator("[data-control='nice:low']")).toHaveValue("19");
  expect((await state(page)).hz).toBe(250);
});

test("a hostile task name is a name and nothing else", async ({ page }) => {
  const name = "<img src=x onerror=alert(1)>";
  await open(page);
  page.on("dialog", () => {
    throw new Error("a script ran");
  });
  await page.evaluate(async (name) => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    const workload = JSON.parse(await lab.workload());
    workload.tasks[name] = workload.tasks.bg;
    delete workload.tasks.bg;
    await lab.load(workload);
  }, name);
  await expect(page.locator("bdi", { hasText: name }).first()).toBeVisible();
  await page.evaluate(() => scrollTo(0, 3000));
  await settled(page);
  await expect(page.locator("#patch")).toBeVisible();
  expect(await page.evaluate(() => {
    const root = /** @type {ShadowRoot} */ (document.querySelector("reweight-lab")?.shadowRoot);
    return root.querySelectorAll("img, script").length;
  })).toBe(0);
});

test("a workload that cannot be read names line, column and path, and the last one stays", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=save]").click();
  await page.locator("[data-control=workload-text]").fill('{\n "tasks": {\n  "low": { "phases": { "hold": { "lock": 7 } } }\n }\n}\n');
  await page.locator("[data-control=open-text]").click();
  const problem = page.locator("dialog .note");
  await expect(problem).toContainText("Line 3");
  await expect(problem).toContainText("lock");
  expect((await state(page)).workload).toBe("patch-test");
});

test("the tour asks, hides, and answers with the run", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=tour]").click();
  for (let i = 0; i < 8; i++) {
    await expect(page.locator("[data-row=b] [data-share]")).toHaveText("?");
    await page.locator("[data-control=guess]").fill("30");
    await page.locator("[data-control=tour-show]").click();
    await expect(page.locator(".verdict").first()).toBeVisible();
    await expect(page.locator("[data-row=b] [data-share]")).not.toHaveText("?");
    await page.locator("[data-control=tour-next]").click();
  }
  await expect(page.locator("[data-control=tour-start]")).toHaveCount(1);
});

test("a dialog asked of a view that is replaced meanwhile does not open, and nothing breaks", async ({ page }) => {
  await open(page);
  // Both in one go: the dialogs are still being fetched when projector mode replaces the view.
  await page.evaluate(() => {
    const root = /** @type {ShadowRoot} */ (/** @type {Element} */ (document.querySelector("reweight-lab")).shadowRoot);
    const press = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector(`[data-control=${name}]`)).click();
    press("keys");
    press("projector");
  });
  await expect(page.locator("reweight-lab")).toHaveAttribute("layout", "projector");
  await settled(page);
  await expect(page.locator("dialog")).toHaveCount(0);
});
