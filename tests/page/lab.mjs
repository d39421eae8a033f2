/** What the page tests share: opening the lab, and watching for what must not happen. */
import { expect, test as base } from "@playwright/test";

export { expect };

/** The policy the lab promises to live with. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self' data:";

/** Pages as a doc author would write them, by name; they lie beside the lab's files. @type {Record<string, string>} */
const PAGES = {
  "_embed.html": '<h1>Priority inheritance</h1><reweight-lab preset="patch-test" kernel="6.12" low-nice="10"></reweight-lab><p>After.</p>',
  "_two.html": '<h1>Two</h1><reweight-lab id="one"></reweight-lab><reweight-lab id="two" low-nice="5"></reweight-lab>',
  "_far.html": '<link rel="stylesheet" href="/_far.css"><h1>Far</h1><div class="far"></div><reweight-lab></reweight-lab>',
  "_hostile.html": '<link rel="stylesheet" href="/_hostile.css"><h1>Hostile</h1><reweight-lab></reweight-lab>',
};

/** @type {Record<string, string>} */
const SHEETS = {
  "_far.css": ".far { height: 5000px }",
  "_hostile.css": "* { font-size: 40px !important; color: red !important; box-sizing: content-box !important } button, input, canvas { display: none !important }",
};

/** A browser page that also finds those pages, under the policy. */
export const plain = base.extend({
  page: async ({ page }, use) => {
    await page.route(/\/_\w+\.(html|css)(\?|$)/, (route) => {
      const url = new URL(route.request().url());
      const name = url.pathname.slice(1);
      if (name in SHEETS) return route.fulfill({ contentType: "text/css", body: SHEETS[name] });
      const policy = url.searchParams.get("csp") === "strict" ? POLICY.replace(" 'wasm-unsafe-eval'", "") : POLICY;
      return route.fulfill({
        contentType: "text/html; charset=utf-8",
        headers: { "content-security-policy": policy },
        body: `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Test</title><link rel="icon" href="data:,"><script type="module" src="/reweight-lab.js"></script><body><main>${PAGES[name]}</main></body></html>`,
      });
    });
    await use(page);
  },
});

/** The same, on which every error, refused load and violated policy fails the test. */
export const test = plain.extend({
  page: async ({ page }, use) => {
    /** @type {string[]} */
    const wrong = [];
    page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
    page.on("pageerror", (e) => wrong.push(String(e)));
    await use(page);
    expect(wrong, "errors on the console").toEqual([]);
  },
});

/** Opens a page and waits until its lab is ready. @param {import("@playwright/test").Page} page @param {string} [address] */
export async function open(page, address = "/") {
  await page.goto(address);
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector("reweight-lab")).state?.().runs.length === 2);
  await expect(page.locator("[data-row=a] [data-share]").first()).toHaveAttribute("value", /\d/);
}

/** A row's number: the unrounded fraction and what a reader sees. @param {import("@playwright/test").Page} page @param {"a" | "b"} row */
export async function shown(page, row) {
  const data = page.locator(`[data-row=${row}] [data-share]`).first();
  return { value: Number(await data.getAttribute("value")), text: ((await data.textContent()) ?? "").replace(/\s/g, " ") };
}

/** @param {import("@playwright/test").Page} page */
export const state = (page) => page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state());
