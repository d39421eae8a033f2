// Takes comments and blanks out of the scripts, style sheets and locales of a folder, in place.
// Names and module paths stay, so every file can still be fetched and read by itself.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { transformSync } from "esbuild";

/** @param {string} dir */
function walk(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) walk(path);
    else minify(path);
  }
}

/** @param {string} path */
function minify(path) {
  const loader = { ".js": "js", ".css": "css" }[extname(path)];
  const text = readFileSync(path, "utf8");
  if (loader) {
    const options = { loader, minify: true, target: "es2022", legalComments: "none" };
    writeFileSync(path, transformSync(text, options).code);
  } else if (extname(path) === ".json") {
    writeFileSync(path, JSON.stringify(JSON.parse(text)));
  }
}

walk(process.argv[2]);
