/** What the page tests share: opening the lab, and watching for what must not happen. */
import AxeBuilder from "@axe-core/playwright";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test as base } from "@playwright/test";

export { expect };

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

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

/**
 * Waits until nothing is on its way: every lab of the page, and the page's own colours. What is read or found absent
 * after that is so for good. A lab that cannot start fails the test with its own sentence.
 * @param {import("@playwright/test").Page | import("@playwright/test").Frame} page
 */
export async function settled(page) {
  await page.evaluate(async () => {
    const labs = [...document.querySelectorAll("reweight-lab")];
    if (labs.length) await customElements.whenDefined("reweight-lab");
    await Promise.all(labs.map((lab) => /** @type {any} */ (lab).settled()));
    await Promise.all(document.getAnimations().filter((a) => a.effect?.getComputedTiming().endTime !== Infinity).map((a) => a.finished.catch(() => {})));
  });
}

/** Opens a page and waits until its lab is at rest. @param {import("@playwright/test").Page} page @param {string} [address] */
export async function open(page, address = "/") {
  await page.goto(address);
  await settled(page);
  await expect(page.locator("[data-row=a] [data-share]").first()).toHaveAttribute("value", /\d/);
}

/** A row's number at rest: the unrounded fraction and what a reader sees. @param {import("@playwright/test").Page} page @param {"a" | "b"} row */
export async function shown(page, row) {
  await settled(page);
  const data = page.locator(`[data-row=${row}] [data-share]`).first();
  return { value: Number(await data.getAttribute("value")), text: ((await data.textContent()) ?? "").replace(/\s/g, " ") };
}

/**
 * What axe finds wrong, at rest: colours in transition are nobody's contrast. All its rules run; what it says beyond
 * violations is not made out, and its way for frames, which none of our pages has, costs a page of its own.
 * @param {import("@playwright/test").Page} page
 */
export async function violations(page) {
  await settled(page);
  expect(page.frames()).toHaveLength(1);
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] }).analyze();
  return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join("; ")}`);
}

/**
 * What the command line prints. `cargo xtask test` has built it and says where; by hand it is built here.
 * @param {...string} args
 */
export function tool(...args) {
  const { REWEIGHT_LAB: built, CARGO = "cargo" } = process.env;
  const [program, ...first] = built ? [built] : [CARGO, "run", "--quiet", "--bin", "reweight-lab", "--"];
  return execFileSync(program, [...first, ...args], { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}

/** @param {import("@playwright/test").Page} page */
export const state = (page) => page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).state());
