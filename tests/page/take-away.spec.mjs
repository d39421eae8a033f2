// What can be taken away: each file is what the command line writes, and a hostile name stays a name in all of them.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, open, settled, test, tool } from "./lab.mjs";

const HOSTILE = "<img src=x onerror=alert(1)>";

/** @type {string} */
let folder;
test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "take-away-"));
});
test.afterAll(() => rmSync(folder, { recursive: true }));

/** Presses a button of the dialog and reads the file that comes. @param {import("@playwright/test").Page} page @param {string} kind */
async function saved(page, kind) {
  const coming = page.waitForEvent("download");
  await page.locator(`[data-control="save:${kind}"]`).click();
  const download = await coming;
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return { path, name: download.suggestedFilename() };
}

/** @param {import("@playwright/test").Page} page */
async function rename(page) {
  await page.evaluate(async (name) => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    const workload = JSON.parse(await lab.workload());
    workload.tasks[name] = workload.tasks.bg;
    delete workload.tasks.bg;
    workload.lab.duration = 6000000;
    workload.lab.windows = [{ name: "boosted", from: 5000000, to: 5900000 }];
    await lab.load(workload);
  }, HOSTILE);
}

test("CSV, ftrace, Chrome JSON and timehist are the command line's, byte for byte", async ({ page }) => {
  test.setTimeout(600_000);
  await open(page, "/?preset=timeout&low-nice=7&kernel=6.1&controls=3:bg=5");
  await page.locator("[data-control=save]").click();
  const workload = (await saved(page, "workload")).path;
  const read = async (/** @type {string} */ kind) => readFileSync((await saved(page, kind)).path, "utf8");
  const same = (/** @type {string} */ a, /** @type {string} */ b, /** @type {string} */ what) => {
    // Of two long texts only the first lines that differ are worth printing.
    const [x, y] = [a, b].map((t) => t.split("\n"));
    const at = x.findIndex((line, i) => line !== y[i]);
    expect(at < 0 && x.length === y.length ? [] : [at, x[at], y[at]], what).toEqual([]);
    expect(a.length).toBeGreaterThan(200);
  };
  expect(await read("csv")).toBe(tool("compare", workload, "--pi", "stock", "--pi", "reweight", "--format", "csv"));
  for (const kind of ["ftrace", "chrome", "timehist"]) {
    await page.locator("[data-control=save-row]").selectOption("1");
    same(await read(kind), tool("simulate", workload, "--pi", "reweight", "--format", kind), kind);
  }
  await page.locator("[data-control=save-row]").selectOption("0");
  same(await read("ftrace"), tool("simulate", workload, "--pi", "stock", "--format", "ftrace"), "stock");
});

test("a saved workload opens again as the same run", async ({ page }) => {
  await open(page, "/?low-nice=3");
  const before = await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().runs);
  await page.locator("[data-control=save]").click();
  const { path, name } = await saved(page, "workload");
  expect(name).toBe("patch-test.json");
  await page.locator("[data-control=open-file]").setInputFiles(path);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().runs)).toEqual(before);
});

test("PNG and SVG show the timeline as it is seen", async ({ page }) => {
  await open(page);
  await page.locator("[data-control=save]").click();
  const png = readFileSync((await saved(page, "png")).path);
  expect([...png.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
  const svg = readFileSync((await saved(page, "svg")).path, "utf8");
  const told = await page.evaluate((text) => {
    const doc = new DOMParser().parseFromString(text, "image/svg+xml");
    return { root: doc.documentElement.nodeName, texts: [...doc.querySelectorAll("text")].map((t) => t.textContent), shapes: doc.querySelectorAll("path, rect").length };
  }, svg);
  expect(told.root).toBe("svg");
  for (const word of ["low", "bg", "high", "blocked on M", "owned by low", "boosted:"]) expect(told.texts.map((t) => t?.trim())).toContain(word);
  expect(told.shapes).toBeGreaterThan(50);
  // Drawn by a browser, file and picture agree but for how letters are smoothed; another view does not.
  const differs = (/** @type {string} */ svg) => page.evaluate(async ({ svg, png }) => {
    const load = (/** @type {string} */ src) => new Promise((/** @type {(i: HTMLImageElement) => void} */ done, fail) => {
      const image = new Image();
      image.onload = () => done(image);
      image.onerror = () => fail(new Error("no image"));
      image.src = src;
    });
    const images = await Promise.all([load(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`), load(`data:image/png;base64,${png}`)]);
    const [a, b] = images.map((image) => {
      const canvas = document.createElement("canvas");
      canvas.width = images[1].width;
      canvas.height = images[1].height;
      const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
      g.drawImage(image, 0, 0, canvas.width, canvas.height);
      return g.getImageData(0, 0, canvas.width, canvas.height).data;
    });
    let off = 0;
    for (let i = 0; i < a.length; i += 4) if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 200) off++;
    return off / (a.length / 4);
  }, { svg, png: png.toString("base64") });
  expect(await differs(svg)).toBeLessThan(0.015);
  await page.locator("[data-control=close]").click();
  await page.locator("[data-control='look:release']").click();
  await settled(page);
  await page.locator("[data-control=save]").click();
  expect(await differs(readFileSync((await saved(page, "svg")).path, "utf8"))).toBeGreaterThan(0.05);
});

test("a zoomed-out timeline is saved as densities", async ({ page }) => {
  await open(page);
  await page.locator("[data-control='look:all']").click();
  await settled(page);
  await page.locator("[data-control=save]").click();
  const svg = readFileSync((await saved(page, "svg")).path, "utf8");
  expect(svg).toMatch(/^<svg /);
  expect((svg.match(/<rect /g) ?? []).length).toBeGreaterThan(500);
});

test("a hostile name is a name and nothing else in every file", async ({ page }) => {
  test.setTimeout(300_000);
  await open(page);
  await rename(page);
  await page.locator("[data-control=save]").click();
  for (const kind of ["workload", "csv", "chrome", "ftrace", "timehist", "svg"]) {
    const text = readFileSync((await saved(page, kind)).path, "utf8");
    if (kind === "svg") {
      expect(text).not.toContain("<img");
      expect(text).toContain("&lt;img");
      expect(await page.evaluate((t) => new DOMParser().parseFromString(t, "image/svg+xml").querySelectorAll("parsererror, img, script, foreignObject").length, text)).toBe(0);
    } else if (kind === "workload" || kind === "chrome") expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(HOSTILE).slice(1, -1));
    // A command has 15 characters in traces, and in ftrace no blanks.
    else expect(/<img[ _]src=x/.test(text), kind).toBe(true);
  }
});

test("what writes the traces is fetched only when one is saved", async ({ page }) => {
  /** @type {string[]} */
  const fetched = [];
  page.on("request", (r) => fetched.push(new URL(r.url()).pathname));
  await open(page);
  await page.locator("[data-control=save]").click();
  await expect(page.getByRole("dialog")).toBeVisible();
  expect(fetched.filter((p) => p.includes("export_bg"))).toEqual([]);
  await saved(page, "csv");
  expect(fetched.filter((p) => p.includes("export_bg"))).toHaveLength(1);
});
