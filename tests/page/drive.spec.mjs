// The two examples of docs/embedding.md for tests of one's own pages, as they are written there: by Playwright, and by
// WebDriver as selenium-webdriver speaks it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "./lab.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** An example's module, out of the document. @param {string} name @param {import("@playwright/test").TestInfo} info */
async function example(name, info) {
  const text = readFileSync(join(root, "docs/embedding.md"), "utf8").split(`<!-- file: drive/${name} -->\n\`\`\`js\n`)[1].split("```")[0];
  mkdirSync(info.outputDir, { recursive: true });
  writeFileSync(info.outputPath(name), text);
  return import(pathToFileURL(info.outputPath(name)).href);
}

/** @param {number[]} shares */
function told([stock, patched]) {
  expect(stock).toBeCloseTo(0.097, 3);
  expect(patched).toBeCloseTo(0.5, 3);
}

test("the example with Playwright", async ({ page }, info) => {
  const { boosted } = await example("playwright.mjs", info);
  await page.goto("/_embed.html");
  told(await boosted(page));
});

/** A port nobody has. */
const free = () => new Promise((done) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    server.close(() => done(port));
  });
});

/** Starts a driver and a session in it: of selenium's driver as much as the example calls. @param {string[]} command @param {any} launch */
async function session(command, launch) {
  const port = await free();
  const driver = spawn(command[0], [...command.slice(1), `--port=${port}`], { stdio: "ignore" });
  /** @param {string} method @param {string} path @param {object} [body] */
  const call = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body), headers: { "content-type": "application/json" } });
    const { value } = await response.json();
    if (!response.ok) throw new Error(value.message);
    return value;
  };
  let id = "";
  const quit = async () => {
    if (id) await call("DELETE", `/session/${id}`).catch(() => {});
    driver.kill();
  };
  try {
    await expect(() => fetch(`http://127.0.0.1:${port}/status`)).toPass({ timeout: 20_000 });
    const options = { binary: launch.executablePath, args: ["--headless", ...launch.args] };
    const made = await call("POST", "/session", { capabilities: { alwaysMatch: { browserName: "chrome", "goog:chromeOptions": options } } });
    id = made.sessionId;
  } catch (error) {
    await quit();
    throw error;
  }
  return {
    quit,
    get: (/** @type {string} */ url) => call("POST", `/session/${id}/url`, { url }),
    executeAsyncScript: (/** @type {Function} */ script) => call("POST", `/session/${id}/execute/async`, { script: `return (${script}).apply(null, arguments);`, args: [] }),
  };
}

test("the example with WebDriver", async ({ launchOptions, baseURL }, info) => {
  const { boosted } = await example("webdriver.mjs", info);
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/lib/chromium-browser", "/usr/lib/chromium"];
  const driver = folders.map((folder) => join(folder, "chromedriver")).find(existsSync);
  // Where there is none, or one of another version than the browser: our own.
  const own = [process.execPath, join(root, "xtask/js/driver.mjs")];
  const driven = await (driver ? session([driver], launchOptions).catch(() => session(own, launchOptions)) : session(own, launchOptions));
  try {
    await driven.get(new URL("/?low-nice=10", baseURL).href);
    told(await boosted(driven));
  } finally {
    await driven.quit();
  }
});
