// Each recipe of docs/embedding.md as it is written there: a real site from the packed artefact, driven in a browser.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const work = /** @type {string} */ (process.env.LAB_PACKAGES);
const pack = join(work, "js/node_modules/reweight-lab");
const modules = join(work, "js/node_modules");
const program = (/** @type {string} */ name) => join(work, "venv/bin", name);
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self' data:";

/** The files of the document, by path. */
const FILES = new Map([...readFileSync(join(root, "docs/embedding.md"), "utf8").matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)```/g)].map((m) => [m[1], m[2]]));

/** Writes a recipe's files into a fresh folder. @param {string} name */
function site(name) {
  const folder = join(work, "sites", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const own = [...FILES].filter(([path]) => path.startsWith(`${name}/`));
  expect(own.length).toBeGreaterThan(0);
  for (const [path, text] of own) {
    const file = join(folder, path.slice(name.length + 1));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

/** @param {string} tool @param {string[]} args @param {string} cwd */
const run = (tool, args, cwd) => execFileSync(tool, args, { cwd, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
/** @param {string} file @param {string[]} args @param {string} cwd */
const node = (file, args, cwd) => run(process.execPath, [join(modules, file), ...args], cwd);

/** @type {Record<string, string>} */
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/** @param {string} folder @param {boolean} strict whether the policy is sent */
async function serve(folder, strict) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    try {
      const body = readFileSync(file);
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", ...(strict ? { "content-security-policy": POLICY } : {}) });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { address: `http://127.0.0.1:${port}/`, stop: () => server.close() };
}

/** Opens the site and drives its lab. @param {import("@playwright/test").Page} page @param {string} folder @param {{ strict?: boolean, path?: string, frame?: boolean }} [how] */
async function drive(page, folder, { strict = false, path = "", frame = false } = {}) {
  const { address, stop } = await serve(folder, strict);
  /** @type {string[]} */
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(String(e)));
  page.on("console", (m) => m.type() === "error" && (strict || /reweight/.test(m.location().url + m.text())) && wrong.push(m.text()));
  await page.goto(address + path);
  const inside = frame ? page.frameLocator("iframe") : page;
  await expect(inside.locator("[data-row=a] [data-share]").first()).toHaveText(/^9\.7\s%$/);
  await expect(inside.locator("[data-row=b] [data-share]").first()).toHaveText(/^50\.0\s%$/);
  await inside.locator("reweight-lab").evaluate((lab) => /** @type {any} */ (lab).setNice("low", 0));
  await expect(inside.locator("[data-row=a] [data-share]").first()).toHaveText(/^50\.0\s%$/);
  expect(wrong).toEqual([]);
  stop();
}

for (const name of ["plain", "classic"]) {
  test(`${name} HTML, under the policy`, async ({ page }) => {
    const folder = site(name);
    cpSync(pack, join(folder, "reweight-lab"), { recursive: true });
    await drive(page, folder, { strict: true });
  });
}

test("pinned, with the hash of this very build; with another the browser refuses it", async ({ page }) => {
  const folder = site("pinned");
  const version = JSON.parse(readFileSync(join(pack, "package.json"), "utf8")).version;
  cpSync(pack, join(folder, `reweight-lab@${version}`), { recursive: true });
  const hash = JSON.parse(readFileSync(join(pack, "integrity.json"), "utf8"))["reweight-lab.inline.js"];
  expect(hash).toMatch(/^sha384-[\w+/]{64}$/);
  const file = join(folder, "index.html");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("sha384-OF-THIS-FILE");
  writeFileSync(file, text.replace("sha384-OF-THIS-FILE", hash));
  await drive(page, folder, { strict: true });
  const other = hash.replace(/^sha384-./, (/** @type {string} */ m) => `sha384-${m.endsWith("A") ? "B" : "A"}`);
  writeFileSync(file, text.replace("sha384-OF-THIS-FILE", other));
  const { address, stop } = await serve(folder, true);
  const refused = page.waitForEvent("console", (m) => m.type() === "error" && m.text().includes("integrity"));
  await page.goto(address);
  await refused;
  expect(await page.evaluate(() => customElements.get("reweight-lab") === undefined)).toBe(true);
  stop();
});

test("the table of hashes names every file, each with its own", () => {
  const table = JSON.parse(readFileSync(join(pack, "integrity.json"), "utf8"));
  for (const name of ["reweight-lab.js", "core/start.js", "reweight_lab_bg.wasm", "reweight-lab.html", "locales/en.json"]) expect(table).toHaveProperty([name]);
  for (const [name, hash] of Object.entries(table)) {
    expect(hash, name).toBe(`sha384-${createHash("sha384").update(readFileSync(join(pack, name))).digest("base64")}`);
  }
});

test("Sphinx, by the directive", async ({ page }) => {
  const folder = site("sphinx");
  cpSync(pack, join(folder, "_static/reweight-lab"), { recursive: true });
  cpSync(join(root, "integrations/sphinx/reweight_lab.py"), join(folder, "reweight_lab.py"));
  run(program("sphinx-build"), ["-q", "-W", "-b", "html", ".", "out"], folder);
  await drive(page, join(folder, "out"));
});

test("mdBook", async ({ page }) => {
  const folder = site("mdbook");
  cpSync(pack, join(folder, "src/reweight-lab"), { recursive: true, filter: (f) => extname(f) !== ".md" });
  run(program("mdbook"), ["build"], folder);
  await drive(page, join(folder, "book"));
});

test("mdBook, by the preprocessor", async ({ page }) => {
  const folder = site("mdbook-preprocessor");
  cpSync(pack, join(folder, "src/reweight-lab"), { recursive: true, filter: (f) => extname(f) !== ".md" });
  cpSync(join(root, "integrations/mdbook/reweight_lab.py"), join(folder, "reweight_lab.py"));
  run(program("mdbook"), ["build"], folder);
  await drive(page, join(folder, "book"), { path: "locks/pi.html" });
  // A mistake ends the build, with the chapter's name.
  writeFileSync(join(folder, "src/locks/pi.md"), "{{#reweight-lab colour=red}}");
  let said = "";
  try {
    run(program("mdbook"), ["build"], folder);
  } catch (error) {
    said = /** @type {{ stderr: string }} */ (error).stderr;
  }
  expect(said).toContain("locks/pi.md: reweight-lab: expected a preset or one of the element's attributes, found 'colour=red'");
});

test("MkDocs Material", async ({ page }) => {
  const folder = site("mkdocs");
  cpSync(pack, join(folder, "docs/reweight-lab"), { recursive: true, filter: (f) => extname(f) !== ".md" });
  run(program("mkdocs"), ["build", "-q"], folder);
  await drive(page, join(folder, "site"));
});

test("VitePress", async ({ page }) => {
  // Below the folder that has node_modules, where a project's own sources would be.
  const folder = join(work, "js/vitepress-site");
  cpSync(site("vitepress"), folder, { recursive: true });
  cpSync(pack, join(folder, "public/reweight-lab"), { recursive: true, filter: (f) => extname(f) !== ".md" });
  node("vitepress/bin/vitepress.js", ["build", folder], join(work, "js"));
  await drive(page, join(folder, ".vitepress/dist"));
});

test("reveal.js", async ({ page }) => {
  const folder = site("reveal");
  cpSync(pack, join(folder, "reweight-lab"), { recursive: true });
  cpSync(join(modules, "reveal.js"), join(folder, "reveal.js"), { recursive: true });
  await drive(page, folder);
});

test("Jupyter, run and written as HTML", async ({ page }) => {
  const folder = site("jupyter");
  const source = readFileSync(join(folder, "cell.py"), "utf8");
  writeFileSync(join(folder, "notebook.ipynb"), JSON.stringify({
    nbformat: 4, nbformat_minor: 5, metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
    cells: [{ cell_type: "code", id: "lab", metadata: {}, source, execution_count: null, outputs: [] }],
  }));
  run(program("python"), ["-m", "nbconvert", "--execute", "--to", "html", "notebook.ipynb"], folder);
  cpSync(join(pack, "reweight-lab.html"), join(folder, "reweight-lab.html"));
  await drive(page, folder, { path: "notebook.html", frame: true });
});

/** A page around what a bundler made. @param {string} folder */
const around = (folder) =>
  writeFileSync(join(folder, "index.html"), '<!doctype html><html lang="en"><title>Bundled</title><link rel="icon" href="data:,"><script type="module" src="./main.js"></script><reweight-lab low-nice="10"></reweight-lab>');

test("Vite", async ({ page }) => {
  // Below the folder that has node_modules, where a project of one's own would have its sources.
  const folder = join(work, "js/vite-site");
  cpSync(site("vite"), folder, { recursive: true });
  around(folder);
  node("vite/bin/vite.js", ["build", folder, "--logLevel", "error"], folder);
  await drive(page, join(folder, "dist"));
});

test("webpack", async ({ page }) => {
  const folder = join(work, "js/webpack-site");
  rmSync(folder, { recursive: true, force: true });
  cpSync(site("vite"), folder, { recursive: true });
  node("webpack/bin/webpack.js", ["--mode", "production", "--entry", "./main.js", "--output-path", "out"], folder);
  around(join(folder, "out"));
  await drive(page, join(folder, "out"), { strict: true });
});

test("esbuild", async ({ page }) => {
  const folder = join(work, "js/esbuild-site");
  cpSync(site("esbuild"), folder, { recursive: true });
  await build({ absWorkingDir: folder, entryPoints: ["main.js"], bundle: true, format: "esm", outfile: "out/main.js", logLevel: "error" });
  around(join(folder, "out"));
  await drive(page, join(folder, "out"), { strict: true });
});

test("the example with Playwright", async ({ page }) => {
  const { address, stop } = await serve(join(work, "sites/plain"), true);
  const { boosted } = await import(pathToFileURL(join(site("drive"), "playwright.mjs")).href);
  await page.goto(address);
  const [a, b] = await boosted(page);
  expect(a).toBeCloseTo(0.097, 3);
  expect(b).toBeCloseTo(0.5, 3);
  stop();
});

test("the example with WebDriver", async () => {
  const { Builder } = createRequire(join(work, "js/package.json"))("selenium-webdriver");
  const chrome = createRequire(join(work, "js/package.json"))("selenium-webdriver/chrome");
  const { address, stop } = await serve(join(work, "sites/plain"), true);
  const { boosted } = await import(pathToFileURL(join(site("drive"), "webdriver.mjs")).href);
  const options = new chrome.Options().addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking");
  options.setChromeBinaryPath(process.env.CHROME);
  const service = new chrome.ServiceBuilder(process.env.CHROMEDRIVER ?? "/usr/bin/chromedriver");
  const driver = await new Builder().forBrowser("chrome").setChromeOptions(options).setChromeService(service).build();
  try {
    await driver.manage().setTimeouts({ script: 30_000 });
    await driver.get(address);
    const [a, b] = await boosted(driver);
    expect(a).toBeCloseTo(0.097, 3);
    expect(b).toBeCloseTo(0.5, 3);
  } finally {
    await driver.quit();
    stop();
  }
});

test("importing the package in Node does nothing; the model runs there", async () => {
  const script = `
    import "reweight-lab"; import "reweight-lab/inline";
    import { simulate, compare, write } from "reweight-lab/simulate";
    const [a, b] = await compare("patch-test", { nice: { low: 10 } });
    const share = (r) => r.windows.find((w) => w.name === "boosted").tasks.low.share;
    const refused = await simulate("{").catch((e) => [e.name, e.line]);
    console.log(JSON.stringify([share(a), share(b), refused, (await write("patch-test", "csv")).split("\\n").length > 3, "document" in globalThis]));`;
  const said = run(process.execPath, ["--input-type=module", "-e", script], join(work, "js"));
  const [a, b, refused, wrote, dom] = JSON.parse(said);
  expect(a).toBeCloseTo(0.097, 3);
  expect(b).toBeCloseTo(0.5, 3);
  expect([refused, wrote, dom]).toEqual([["WorkloadError", 1], true, false]);
});

test("a report in Node is the command line's, to the digit", async () => {
  test.setTimeout(600_000);
  const cases = [
    ["patch-test", {}, []],
    ["patch-test", { pi: "reweight", kernel: "6.1", hz: 250 }, ["--pi", "reweight", "--kernel", "6.1", "--hz", "250"]],
    ["two-waiters-weak-first", { pi: "reweight-v2", cpus_online: 4 }, ["--pi", "reweight-v2", "--cpus-online", "4"]],
    ["rt-waiter", { pi: "reweight-fixed", duration_ns: 3_000_000_000 }, ["--pi", "reweight-fixed", "--duration", "3s"]],
    ["timeout", { pi: "proxy-exec" }, ["--pi", "proxy-exec"]],
    ["fork-boosted", {}, []],
  ];
  const script = `
    import { simulate } from "reweight-lab/simulate";
    const all = [];
    for (const [name, options] of ${JSON.stringify(cases)}) all.push(await simulate(name, options));
    console.log(JSON.stringify(all));`;
  const reports = JSON.parse(run(process.execPath, ["--input-type=module", "-e", script], join(work, "js")));
  for (const [i, [name, , args]] of /** @type {[string, object, string[]][]} */ (cases).entries()) {
    const printed = run(process.env.CARGO ?? "cargo", ["run", "--quiet", "--package", "reweight-lab", "--", "simulate", name, "--format", "json", ...args], root);
    expect(reports[i], name).toEqual(JSON.parse(printed));
    expect(Object.keys(reports[i]), name).toEqual(Object.keys(JSON.parse(printed)));
  }
});

test("the package's types are those of what it does", async () => {
  const folder = join(work, "js/types");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "good.ts"), `import "reweight-lab";
import { simulate, type Report } from "reweight-lab/simulate";
const lab = document.querySelector("reweight-lab")!;
lab.addEventListener("change", (e) => e.detail.control.length);
const share: number = lab.state().runs[1].windows[0].tasks.low.share;
lab.setPi("reweight-fixed");
const weight = async () => (await simulate("patch-test")).tasks[0].weight + (await simulate("patch-test")).decisions;
const report: Promise<Report> = simulate("patch-test", { pi: "none", nice: { low: 1 } });
// @ts-expect-error a variant that is not one
lab.setPi("fast");
// @ts-expect-error an option that is not one
simulate("patch-test", { nices: {} });
export { share, report, weight };
`);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  run(process.execPath, [tsc, "--noEmit", "--strict", "--target", "esnext", "--module", "esnext", "--moduleResolution", "bundler", "--skipLibCheck", "good.ts"], folder);
});
