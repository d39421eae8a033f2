// docs/sizes.md is of a build like this one.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** How far a figure may be off before the page has to be written anew, of 1. */
const STALE = 0.03;

/** Bytes with brotli, by row. @param {string} page @returns {Record<string, number>} */
function brotli(page) {
  const rows = readFileSync(page, "utf8").matchAll(/^\| (\S+) \| \d+ \| \d+ \| (\d+) \|$/gm);
  return Object.fromEntries([...rows].map(([, name, bytes]) => [name, Number(bytes)]));
}

test("docs/sizes.md tells what is built, else `cargo xtask sizes` is due", ({}, info) => {
  mkdirSync(info.outputDir, { recursive: true });
  const fresh = info.outputPath("sizes.md");
  execFileSync(process.execPath, [`${root}xtask/js/sizes-page.mjs`, `${root}dist`, fresh]);
  const [told, built] = [brotli(`${root}docs/sizes.md`), brotli(fresh)];
  // A changed line in one script moves its row; what counts is the sum, and each build.
  for (const name of ["**together**", "reweight-lab.classic.js", "reweight-lab.inline.js", "reweight-lab.html", "reweight_lab_bg.wasm", "reweight_lab_export_bg.wasm"]) {
    expect(built[name], name).toBeGreaterThan(1000);
    expect(Math.abs(told[name] - built[name]) / built[name], `${name}: ${told[name]} told, ${built[name]} built`).toBeLessThan(STALE);
  }
});
