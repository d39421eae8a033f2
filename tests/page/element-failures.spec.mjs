// What keeps a lab from starting, the rest of it: see element.spec.mjs for what one server and one policy can do.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, plain as test } from "./lab.mjs";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
/** @type {Record<string, string>} */
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };

/** Another origin with the lab's files. @param {(path: string) => boolean} allows whether other origins may read that one */
async function elsewhere(allows) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    try {
      const body = await readFile(dist + path.slice(1));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain", ...(allows(path) ? { "access-control-allow-origin": "*" } : {}) });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { origin: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

/** A page whose lab comes from the page's own server or from elsewhere. @param {string} script */
const hostPage = (script) => `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><reweight-lab></reweight-lab>${script}`;

/** Serves that page for real: a browser keeps a page without an address of this machine from others on it. @param {string} script */
async function host(script) {
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(hostPage(script)));
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { address: `http://127.0.0.1:${port}/`, stop: () => server.close() };
}

/** What its note says, and what its `error` event. @param {import("@playwright/test").Page} page @param {string} script @param {string} [address] */
async function noteOf(page, script, address = "/elsewhere.html") {
  await page.route("**/elsewhere.html", (route) => route.fulfill({ contentType: "text/html", body: hostPage(script) }));
  await page.addInitScript(() => document.addEventListener("error", (e) => (/** @type {any} */ (window).why = /** @type {any} */ (e).detail), { once: true }));
  await page.goto(address);
  const note = page.locator("reweight-lab .note");
  await expect(note).toBeVisible();
  return { text: (await note.textContent()) ?? "", detail: await page.evaluate(() => /** @type {any} */ (window).why) };
}

test("another origin that allows its scripts but not its WebAssembly", async ({ page }) => {
  const other = await elsewhere((path) => !path.endsWith(".wasm"));
  const here = await host(`<script type="module" src="${other.origin}/reweight-lab.js"></script>`);
  const { text, detail } = await noteOf(page, "", here.address);
  here.stop();
  expect(text).toContain("Access-Control-Allow-Origin");
  expect(text).toContain("reweight_lab_bg.wasm");
  expect(detail.cause).toBe("cors");
  expect(detail.message).not.toContain("`");
  other.stop();
});

test("another origin that allows nothing, and a classic script", async ({ page }) => {
  const other = await elsewhere(() => false);
  const here = await host(`<script src="${other.origin}/reweight-lab.classic.js"></script>`);
  const { text, detail } = await noteOf(page, "", here.address);
  here.stop();
  expect(text).toContain("Access-Control-Allow-Origin");
  expect(detail.cause).toBe("cors");
  other.stop();
});

test("another origin that allows all of it runs", async ({ page }) => {
  const other = await elsewhere(() => true);
  const here = await host(`<script type="module" src="${other.origin}/reweight-lab.js"></script>`);
  await page.goto(here.address);
  await expect(page.locator("[data-row=b] [data-share]").first()).toHaveText(/^50\.0\s%$/);
  here.stop();
  other.stop();
});

for (const [name, script] of [["module", '<script type="module" src="/reweight-lab.js"></script>'], ["classic", '<script src="/reweight-lab.classic.js"></script>']]) {
  test(`an old browser, ${name}`, async ({ page }) => {
    await page.addInitScript(() => delete (/** @type {any} */ (Document.prototype)).adoptedStyleSheets);
    const { text, detail } = await noteOf(page, script);
    expect(text).toContain("Chrome or Edge 123");
    expect(detail.cause).toBe("old-browser");
  });

  test(`no memory, ${name}`, async ({ page }) => {
    await page.addInitScript(() => {
      // What an engine throws when it cannot reserve a module's memory.
      WebAssembly.instantiateStreaming = () => Promise.reject(new RangeError("could not allocate memory"));
    });
    const { text, detail } = await noteOf(page, script);
    expect(text).toContain("memory");
    expect(detail.cause).toBe("memory");
  });
}

test("a part that was not copied", async ({ page }) => {
  await page.route("**/core/start.js", (route) => route.fulfill({ status: 404 }));
  await page.goto("/_embed.html");
  await expect(page.locator("reweight-lab p")).toContainText("core/start.js");
});

test("a policy that lets it fetch nothing", async ({ page }) => {
  await page.route("**/_alone.html", (route) => route.fulfill({
    contentType: "text/html", headers: { "content-security-policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; img-src data:" },
    body: hostPage('<script type="module" src="/reweight-lab.js"></script>'),
  }));
  await page.addInitScript(() => document.addEventListener("error", (e) => (/** @type {any} */ (window).why = /** @type {any} */ (e).detail), { once: true }));
  await page.goto("/_alone.html");
  await expect(page.locator("reweight-lab .note")).toContainText("connect-src");
  expect(await page.evaluate(() => /** @type {any} */ (window).why.cause)).toBe("no-answer");
});

test("further parts that were not copied", async ({ page }) => {
  await page.route("**/core/below.js", (route) => route.fulfill({ status: 404 }));
  await page.goto("/");
  await page.locator("[data-control=share]").first().click();
  await expect(page.locator("reweight-lab")).toContainText("A further part of the lab did not arrive");
});

test("words that were not copied", async ({ page }) => {
  await page.route("**/locales/en.json", (route) => route.fulfill({ status: 404 }));
  const { text, detail } = await noteOf(page, '<script type="module" src="/reweight-lab.js"></script>');
  expect(text).toContain("Were all of them copied");
  expect(detail.cause).toBe("not-found");
});

test("a damaged file", async ({ page }) => {
  await page.route("**/*.wasm", (route) => route.fulfill({ contentType: "application/wasm", body: Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 9, 9]) }));
  const { text, detail } = await noteOf(page, '<script type="module" src="/reweight-lab.js"></script>');
  expect(text).toContain("of another version");
  expect(detail.cause).toBe("broken");
});

test("after a failure it can be tried again", async ({ page }) => {
  let fails = true;
  await page.route("**/*.wasm", (route) => (fails ? route.fulfill({ status: 503 }) : route.continue()));
  const { text } = await noteOf(page, '<script type="module" src="/reweight-lab.js"></script>');
  expect(text).toContain("503");
  fails = false;
  await page.evaluate(() => /** @type {any} */ (document.querySelector("reweight-lab")).pause());
  await expect(page.locator("[data-row=b] [data-share]").first()).toHaveText(/^50\.0\s%$/);
});
