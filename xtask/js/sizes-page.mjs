// Writes docs/sizes.md from a finished folder: `node sizes-page.mjs DIST FILE`. Raw, gzip and brotli, per build and
// per file of the module build's first paint in English: what reweight-lab.js and core/start.js import, and what
// they fetch by name before the first picture.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const [dist, file] = process.argv.slice(2);
const read = (name) => readFileSync(join(dist, name));

/** @param {string} name @param {Set<string>} seen */
function imports(name, seen) {
  if (seen.has(name)) return;
  seen.add(name);
  for (const [, path] of read(name).toString().matchAll(/(?:from|import)"(\.[^"]+)"/g)) imports(normalize(join(dirname(name), path)), seen);
}

const first = new Set();
imports("reweight-lab.js", first);
imports("core/start.js", first);
for (const name of ["reweight_lab.js", "reweight_lab_bg.wasm", "core/tokens.css", "core/lab.css", "locales/en.json"]) first.add(name);

/** @param {string} name */
function size(name) {
  const bytes = read(name);
  return { name, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length };
}

const line = ({ name, raw, gzip, brotli }) => `| ${name} | ${raw} | ${gzip} | ${brotli} |`;
const head = "| file | raw | gzip | brotli |\n|---|--:|--:|--:|";
const paint = [...first].sort().map(size);
const sum = paint.reduce((a, b) => ({ name: "**together**", raw: a.raw + b.raw, gzip: a.gzip + b.gzip, brotli: a.brotli + b.brotli }));
const builds = ["reweight-lab.classic.js", "reweight-lab.inline.js", "reweight-lab.html", "embed.js", "reweight_lab_bg.wasm", "reweight_lab_export_bg.wasm"].map(size);

writeFileSync(file, `# Sizes

Bytes, written by \`cargo xtask sizes\` from dist/ as built; do not edit.

## First paint of the module build, in English

The bar: 100 KB with brotli, ${(sum.brotli / 1000).toFixed(1)} KB here.

${head}
${[...paint, sum].map(line).join("\n")}

## Builds

The classic script fetches style, words and WebAssembly like the module; the one module and the one file have all inside.

${head}
${builds.map(line).join("\n")}
`);
