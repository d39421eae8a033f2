// Pictures of every step of the tour and every mode of the page, for people to look at. LAB_URL is where the page is
// served, CHROME the browser; the arguments are the folder for all of them and, if the README's are wanted, docs/.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";

const [folder, docs] = process.argv.slice(2);
const base = process.env.LAB_URL ?? "";

/**
 * @typedef {object} Shot
 * @property {string} name @property {string} at address
 * @property {[number, number]} [size] @property {import("@playwright/test").BrowserContextOptions} [as]
 * @property {(page: import("@playwright/test").Page) => Promise<unknown>} [act] @property {boolean} [whole]
 */

/** @param {string} control */
const press = (control) => (/** @type {import("@playwright/test").Page} */ page) => page.locator(`[data-control="${control}"]`).first().click();

/** @type {Shot[]} */
const SHOTS = [
  { name: "lab", at: "/", whole: true },
  { name: "lab-dark", at: "/", as: { colorScheme: "dark" }, whole: true },
  { name: "lab-de", at: "/?lang=de", whole: true },
  { name: "lab-cfs", at: "/?kernel=6.1", whole: true },
  { name: "lab-forced-colours", at: "/", as: { forcedColors: "active" }, whole: true },
  { name: "lab-more-contrast", at: "/", as: { contrast: "more" } },
  { name: "lab-right-to-left", at: "/", act: (page) => page.evaluate(() => document.documentElement.setAttribute("dir", "rtl")), whole: true },
  ...[320, 360, 640, 860, 1100].map((width) => ({ name: `lab-${width}`, at: "/", size: /** @type {[number, number]} */ ([width, 800]), whole: true })),
  { name: "lab-3840", at: "/", size: [3840, 2160] },
  { name: "lab-print", at: "/?low-nice=5", act: (page) => page.emulateMedia({ media: "print" }) },
  { name: "lab-no-script", at: "/", as: { javaScriptEnabled: false } },
  { name: "lab-bad-address", at: "/?low-nice=99&kernel=9.9" },
  { name: "lab-all", at: "/", act: press("look:all") },
  { name: "lab-playing", at: "/", act: async (page) => { await press("play")(page); await page.waitForTimeout(1500); await press("play")(page); } },
  ...["keys", "share", "save", "tasks", "table"].map((name) => ({ name: `dialog-${name}`, at: "/", act: press(name) })),
  ...Array.from({ length: 8 }, (_, i) => i + 1).flatMap((n) => [
    { name: `tour-${n}-asked`, at: `/?tour=${n}` },
    { name: `tour-${n}-answered`, at: `/?tour=${n}`, act: press("tour-show") },
    { name: `tour-${n}-answered-360`, at: `/?tour=${n}`, size: /** @type {[number, number]} */ ([360, 780]), act: press("tour-show") },
    { name: `tour-${n}-de-dark`, at: `/?tour=${n}&lang=de`, as: { colorScheme: /** @type {const} */ ("dark") }, act: press("tour-show") },
    { name: `projector-tour-${n}-asked`, at: `/?tour=${n}&layout=projector`, size: /** @type {[number, number]} */ ([1280, 720]) },
    { name: `projector-tour-${n}-answered`, at: `/?tour=${n}&layout=projector`, size: /** @type {[number, number]} */ ([1280, 720]), act: press("tour-show") },
  ]),
  { name: "projector", at: "/?layout=projector", size: [1280, 720] },
  { name: "projector-dark", at: "/?layout=projector", size: [1280, 720], as: { colorScheme: "dark" } },
  { name: "projector-1920", at: "/?layout=projector", size: [1920, 1080] },
  { name: "sheet", at: "/sheet.html", whole: true },
  { name: "sheet-exercises", at: "/sheet.html?seed=42", whole: true },
  { name: "sheet-exercises-de-360", at: "/sheet.html?seed=42&lang=de", size: [360, 780], whole: true },
];

/** The README's two. @type {Shot[]} */
const README = [
  { name: "lab", at: "/", size: [1200, 680] },
  { name: "tour", at: "/?tour=2&layout=projector", size: [1200, 680], act: press("tour-show") },
];

const browser = await chromium.launch({ executablePath: process.env.CHROME, args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu"] });

/** @param {Shot} shot @param {string} into */
async function take(shot, into) {
  const [width, height] = shot.size ?? [1280, 800];
  const context = await browser.newContext({ viewport: { width, height }, ...shot.as });
  const page = await context.newPage();
  page.on("pageerror", (e) => console.error(`${shot.name}: ${e}`));
  await page.goto(base.replace(/\/$/, "") + shot.at);
  if (shot.as?.javaScriptEnabled !== false) {
    const ready = shot.at.startsWith("/sheet") ? "html[data-ready]" : shot.at.includes("tour=") ? "#tour-ask" : "[data-share]";
    await page.locator(ready).first().waitFor({ state: "attached" });
  }
  await shot.act?.(page);
  if (shot.whole) {
    // Parts further down come when they are near.
    for (let y = 0; y < 6000; y += 600) await page.evaluate((to) => scrollTo(0, to), y).catch(() => {});
    await page.evaluate(() => scrollTo(0, 0));
  }
  // Numbers have run to their values.
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(into, `${shot.name}.png`), fullPage: shot.whole === true });
  await context.close();
}

mkdirSync(folder, { recursive: true });
for (const shot of SHOTS) await take(shot, folder);
if (docs) for (const shot of README) await take(shot, docs);
await browser.close();
console.log(`${SHOTS.length} pictures in ${folder}${docs ? `, ${README.length} in ${docs}` : ""}`);
