// The other builds: the classic script, the one file, and what each does where it was not meant to run.
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, plain, test } from "./lab.mjs";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self' data:";

/** A page of its own text below an address of its own, under the policy. @param {import("@playwright/test").Page} page @param {string} body */
async function host(page, body) {
  await page.route("**/sub/page.html", (route) => route.fulfill({
    contentType: "text/html; charset=utf-8", headers: { "content-security-policy": POLICY },
    body: `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><body>${body}</body></html>`,
  }));
  await page.goto("/sub/page.html");
}

const share = (/** @type {import("@playwright/test").Page} */ page, /** @type {string} */ row) => page.locator(`[data-row=${row}] [data-share]`).first();

test("the classic script finds its files from a page that lies elsewhere", async ({ page }) => {
  await host(page, '<reweight-lab></reweight-lab><script src="../reweight-lab.classic.js"></script>');
  await expect(share(page, "a")).toHaveText(/^9\.7\s%$/);
  await expect(share(page, "b")).toHaveText(/^50\.0\s%$/);
});

test("the classic script adds no name to the page", async ({ page }) => {
  await host(page, "<p>Nothing.</p>");
  const before = await page.evaluate(() => Object.getOwnPropertyNames(window));
  await page.addScriptTag({ url: "../reweight-lab.classic.js" });
  await page.evaluate(() => customElements.whenDefined("reweight-lab"));
  const after = await page.evaluate(() => Object.getOwnPropertyNames(window));
  expect(after.filter((n) => !before.includes(n))).toEqual([]);
});

test("the classic script and the module on one page: the first defines, the second does not fail", async ({ page }) => {
  await host(page, '<script src="../reweight-lab.classic.js"></script><script type="module" src="../reweight-lab.js"></script><reweight-lab></reweight-lab>');
  await expect(share(page, "b")).toHaveText(/^50\.0\s%$/);
});

/** Whatever leaves the file. @param {import("@playwright/test").Page} page */
function requests(page) {
  /** @type {string[]} */
  const list = [];
  page.on("request", (r) => {
    if (!/^(data|blob):/.test(r.url())) list.push(r.url());
  });
  return list;
}

test("the one file runs from disk, asks for nothing else, and its controls work", async ({ page, context }) => {
  await context.setOffline(true);
  const asked = requests(page);
  const address = pathToFileURL(`${dist}reweight-lab.html`).href;
  await page.goto(address);
  await expect(share(page, "a")).toHaveText(/^9\.7\s%$/);
  await expect(share(page, "b")).toHaveText(/^50\.0\s%$/);
  await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).setNice("low", 0));
  await expect(share(page, "a")).toHaveText(/^50\.0\s%$/);
  // The parts further down, and the address that follows what was changed.
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await expect(page).toHaveURL(/low-nice=0/);
  // Another language, and a trace by the second module: all of it is inside.
  await page.evaluate(() => (document.documentElement.lang = "de"));
  await expect(page.locator("[data-row=a] [data-share]").first()).toHaveText(/^50,0\s%$/);
  expect(asked.filter((u) => u.split("?")[0] !== address)).toEqual([]);
});

test("the one file takes its start state from its address", async ({ page }) => {
  await page.goto(`${pathToFileURL(`${dist}reweight-lab.html`).href}?low-nice=5&kernel=6.1`);
  await expect(share(page, "a")).toHaveText(/^24\.[67]\s%$/);
  expect(await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state().kernel)).toBe("6.1");
});

test("the WebAssembly needs what docs/embedding.md says, no more and no less", () => {
  const document = readFileSync(new URL("../../docs/embedding.md", import.meta.url), "utf8");
  const row = document.split("\n").find((line) => line.startsWith("| WebAssembly: ")) ?? "";
  const told = [...row.matchAll(/`([\w-]+)`/g)].map((m) => m[1]).sort();
  expect(told.length).toBeGreaterThan(3);
  for (const name of ["reweight_lab_bg.wasm", "reweight_lab_export_bg.wasm"]) {
    const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(readFileSync(`${dist}${name}`)), "target_features");
    // A count, then each as a plus, a length and a name.
    const bytes = Buffer.from(section);
    const needed = [];
    for (let at = 1; at < bytes.length; at += 2 + bytes[at + 1]) {
      expect(String.fromCharCode(bytes[at])).toBe("+");
      needed.push(bytes.toString("latin1", at + 2, at + 2 + bytes[at + 1]));
    }
    expect(needed.sort(), name).toEqual(told);
  }
});

plain("the page of modules, opened from disk, says what to do", async ({ page }) => {
  await page.goto(pathToFileURL(`${dist}index.html`).href);
  await expect(page.locator("#hint")).toContainText("one-file build");
  await expect(page.locator("td", { hasText: "50.00" })).toBeVisible();
});

plain("the classic script, opened from disk, says what to do", async ({ page }, info) => {
  const { writeFileSync } = await import("node:fs");
  const file = info.outputPath("host.html");
  writeFileSync(file, `<!doctype html><title>Host</title><reweight-lab></reweight-lab><script src="${pathToFileURL(`${dist}reweight-lab.classic.js`).href}"></script>`);
  await page.goto(pathToFileURL(file).href);
  // Not even the words can be fetched there.
  await expect(page.locator("reweight-lab .note")).toContainText("one-file build");
});
