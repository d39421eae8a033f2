// The element in other people's pages: late, apart, polite, and plain about what keeps it from starting.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, open, plain as bare, settled, shown, state, test } from "./lab.mjs";

test("two lines in a page are enough", async ({ page }) => {
  await open(page, "/_embed.html");
  expect((await shown(page, "a")).text).toMatch(/^9\.7\s%$/);
  expect((await shown(page, "b")).text).toMatch(/^50\.0\s%$/);
});

test("attributes, properties and methods stay in step; events are plain data", async ({ page }) => {
  await open(page, "/_embed.html");
  const heard = await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    /** @type {object[]} */
    const heard = [];
    document.addEventListener("change", (e) => heard.push(/** @type {CustomEvent} */ (e).detail));
    await lab.setNice("low", 5);
    await lab.setPi("stock");
    lab.kernel = "6.1";
    lab.setAttribute("low-nice", "19");
    await lab.settled();
    structuredClone(heard);
    return heard;
  });
  expect(heard).toContainEqual({ control: "nice:low", value: 5, time_ns: 0 });
  expect(heard).toContainEqual({ control: "pi", value: "stock", time_ns: 0 });
  const lab = page.locator("reweight-lab");
  await expect(lab).toHaveAttribute("low-nice", "19");
  await expect(lab).toHaveAttribute("pi", "stock");
  expect((await state(page)).kernel).toBe("6.1");
  expect((await shown(page, "b")).value).toBeLessThan(0.02);
});

test("several on one page are each on their own", async ({ page }) => {
  await page.goto("/_two.html");
  await expect(page.locator("#one [data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
  await page.locator("#two").scrollIntoViewIfNeeded();
  await expect(page.locator("#two [data-row=a] [data-share]")).toHaveText(/^24\.[67]\s%$/);
  await page.evaluate(() => /** @type {any} */ (document.querySelector("#one")).setNice("low", 0));
  await expect(page.locator("#one [data-row=a] [data-share]")).toHaveText(/^50\.0\s%$/);
  await expect(page.locator("#two [data-row=a] [data-share]")).toHaveText(/^24\.[67]\s%$/);
});

test("nothing is fetched until it nears the viewport", async ({ page }) => {
  /** @type {string[]} */
  const fetched = [];
  page.on("request", (r) => fetched.push(new URL(r.url()).pathname));
  await page.goto("/_far.html");
  await settled(page);
  expect(fetched.filter((p) => p.includes("/core/") || p.endsWith(".wasm"))).toEqual([]);
  await page.locator("reweight-lab").scrollIntoViewIfNeeded();
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
});

test("taken out and put back it goes on; moved it never stops", async ({ page }) => {
  await open(page, "/_embed.html");
  await page.evaluate(async () => {
    const lab = /** @type {any} */ (document.querySelector("reweight-lab"));
    await lab.setNice("low", 15);
    document.body.append(lab);
    lab.remove();
    // Out for as long as a picture takes.
    await new Promise(requestAnimationFrame);
    document.querySelector("main")?.append(lab);
    await lab.ready;
  });
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^3\.4\s%$/);
});

test("a hostile host sheet does not reach inside", async ({ page }) => {
  await page.goto("/_hostile.html");
  await expect(page.locator("[data-row=a] [data-share]")).toHaveText(/^9\.7\s%$/);
  await expect(page.locator("[data-control=play]")).toBeVisible();
});

test("wheel, keys and focus of the page are left alone", async ({ page }) => {
  await open(page, "/_embed.html");
  await page.evaluate(() => {
    const heard = /** @type {any} */ (window);
    heard.keys = [];
    document.addEventListener("keydown", (e) => heard.keys.push([e.key, e.defaultPrevented]));
  });
  await page.keyboard.press("p");
  await page.keyboard.press("b");
  expect(await page.evaluate(() => /** @type {any} */ (window).keys)).toEqual([["p", false], ["b", false]]);
  await expect(page.locator("[data-row=b]")).toHaveAttribute("data-pi", "reweight");
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BODY");
});

test("defined twice it does not fail", async ({ page }) => {
  await open(page, "/_embed.html");
  expect(await page.evaluate(() => import("/reweight-lab.js?again").then(() => "fine"))).toBe("fine");
});

test("importing it in Node does nothing and breaks nothing", () => {
  const file = fileURLToPath(new URL("../../www/reweight-lab.js", import.meta.url));
  expect(execFileSync(process.execPath, ["--input-type=module", "-e", `await import(${JSON.stringify(`file://${file}`)}); console.log("fine")`], { encoding: "utf8" }).trim()).toBe("fine");
});

// ---- what keeps it from starting: each way in its own words ------------------------------------

/** @param {import("@playwright/test").Page} page @param {string} address */
async function failure(page, address = "/_embed.html") {
  await page.goto(address);
  const note = page.locator("reweight-lab .note");
  await expect(note).toBeVisible();
  // The result is still told.
  await expect(page.locator("reweight-lab .figure td", { hasText: "50.00" })).toBeVisible();
  return (await note.textContent()) ?? "";
}

bare("no WebAssembly", async ({ page }) => {
  await page.addInitScript(() => delete (/** @type {any} */ (globalThis).WebAssembly));
  expect(await failure(page)).toContain("no WebAssembly");
});

bare("a policy that forbids it", async ({ page }) => {
  expect(await failure(page, "/_embed.html?csp=strict")).toContain("'wasm-unsafe-eval'");
});

bare("the file is not there", async ({ page }) => {
  await page.route("**/*.wasm", (route) => route.fulfill({ status: 404 }));
  expect(await failure(page)).toContain("404");
});

bare("something else than WebAssembly", async ({ page }) => {
  await page.route("**/*.wasm", (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<!doctype html>" }));
  expect(await failure(page)).toContain("text/html");
});

bare("a wrong MIME type falls back and runs", async ({ page }) => {
  await page.route("**/*.wasm", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "content-type": "application/octet-stream" } });
  });
  await page.goto("/_embed.html");
  await expect(page.locator("[data-row=b] [data-share]")).toHaveText(/^50\.0\s%$/);
});

bare("the glue is sent as text", async ({ page }) => {
  await page.route("**/reweight_lab.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "content-type": "text/plain" } });
  });
  expect(await failure(page)).toContain("text/javascript");
});

bare("no answer at all", async ({ page }) => {
  await page.route("**/*.wasm", (route) => route.abort());
  expect(await failure(page)).toContain("did not arrive");
});

bare("without JavaScript the result stands", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(new URL("/", baseURL).href);
  await expect(page.locator("td", { hasText: "9.70" })).toBeVisible();
  await expect(page.locator("td", { hasText: "50.00" })).toBeVisible();
  await context.close();
});
