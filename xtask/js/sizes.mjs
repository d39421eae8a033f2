// Prints the size of each .wasm, .js and .css file below a folder, plain and compressed with brotli.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const root = process.argv[2];

/** @param {string} folder @returns {string[]} */
const files = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return files(path);
    return /\.(wasm|js|mjs|css)$/.test(name) ? [path] : [];
  });

const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
let total = 0;
for (const path of files(root).sort()) {
  const bytes = readFileSync(path);
  const small = brotliCompressSync(bytes, { params }).length;
  total += small;
  console.log(`${String(bytes.length).padStart(9)} ${String(small).padStart(8)} br  ${relative(root, path)}`);
}
console.log(`${" ".repeat(9)} ${String(total).padStart(8)} br  in all`);
