// Installs the engines into TARGET/packages, packs the artefact, and runs the recipes: node run.mjs TARGET DIST [OPTION]...
// The options are Playwright's.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [target, dist, ...options] = process.argv.slice(2);
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const work = join(target, "packages");
const js = join(work, "js");
mkdirSync(js, { recursive: true });

/** @param {string} tool @param {string[]} args @param {string} [cwd] */
const run = (tool, args, cwd = work) => execFileSync(tool, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });

/** Runs `install` unless it was done for this very list. @param {string} list @param {string} stamp @param {() => void} install */
function once(list, stamp, install) {
  const wanted = readFileSync(join(here, list), "utf8");
  const file = join(work, stamp);
  if (existsSync(file) && readFileSync(file, "utf8") === wanted) return;
  install();
  writeFileSync(file, wanted);
}

/** @param {string} what @param {() => void} install */
function needed(what, install) {
  try {
    install();
  } catch (error) {
    console.error(`packages: ${what}\n${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}

needed("Python 3.11 or later with venv is needed (Debian: python3-venv), and a network for its packages the first time", () =>
  once("requirements.txt", ".python", () => {
    run("python3", ["-m", "venv", "--clear", "venv"]);
    run(join(work, "venv/bin/pip"), ["install", "-q", "--disable-pip-version-check", "-r", join(here, "requirements.txt")]);
  }));
needed("npm is needed, and a network for its packages the first time", () =>
  once("package-lock.json", ".npm", () => {
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(js, name));
    run("npm", ["ci", "--no-audit", "--no-fund"], js);
  }));

const tarball = execFileSync(process.execPath, [join(root, "xtask/js/pack.mjs"), root, dist, work], { encoding: "utf8" }).trim();
run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--prefer-offline", tarball], js);
execFileSync(process.execPath, [join(root, "node_modules/@playwright/test/cli.js"), "test", "--config", join(here, "playwright.config.mjs"), ...options], {
  cwd: root, stdio: "inherit", env: { ...process.env, LAB_PACKAGES: work, LAB_URL: "http://127.0.0.1/" },
});
