// Makes the further builds of a finished folder: one classic script, one module and one page with everything inside.
// All are the same modules; only core/assets.js, which names the files, is another. Last, the hash of each file.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { build } from "esbuild";

const root = process.argv[2];
const read = (name) => readFileSync(join(root, name), "utf8");

/** Another text in core/assets.js's place. @param {() => string} text */
const assets = (text) => ({
  name: "assets",
  setup(b) {
    b.onLoad({ filter: /core\/assets\.js$/ }, () => ({ contents: text(), loader: "js", resolveDir: join(root, "core") }));
  },
});

/** All ASCII: a host page without a charset would read a plain script as another. @param {string} entry @param {Record<string, unknown>} options */
async function bundle(entry, options) {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: root, loader: "js" },
    bundle: true, write: false, minify: true, charset: "ascii", format: "iife", target: "es2022", legalComments: "none", logLevel: "warning",
    ...options,
  });
  return outputFiles[0].text;
}

// ---- the classic script: its files lie beside it, wherever that is --------------------------------
// `currentScript` is only there while the script runs for the first time, so it is asked at the top.
const home = '((globalThis.document&&document.currentScript&&document.currentScript.src)||(globalThis.location?location.href:"file:///"))';
writeFileSync(join(root, "reweight-lab.classic.js"), await bundle('import "./reweight-lab.js";', {
  define: { "import.meta.url": "__reweight_lab_home" },
  banner: { js: `(()=>{const __reweight_lab_home=new URL("core/assets.js",${home}).href;` },
  footer: { js: "})();" },
}));

// ---- one page with everything inside ---------------------------------------------------------------
const names = [...read("core/assets.js").matchAll(/"([\w.]+)":\(\)=>new URL\("([^"]+)"/g)].map((m) => [m[1], join("core", m[2])]);
if (names.length < 6) throw new Error("core/assets.js: its table of files was not found");
const packed = (name) => readFileSync(join(root, name)).toString("base64");
const inside = () => `
  import * as model from "../reweight_lab.js";
  import * as second from "../reweight_lab_export.js";
  const FILES = ${JSON.stringify(Object.fromEntries(names.map(([name, path]) => [name, read(path)])))};
  const bytes = (packed) => Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const file = (packed) => new Response(bytes(packed), { headers: { "content-type": "application/wasm" } });
  export class MissingFile extends Error {}
  export const text = async (name) => FILES[name];
  export const wasm = async () => file("${packed("reweight_lab_bg.wasm")}");
  export const glue = async () => model;
  export const glueFile = async () => new Response("", { headers: { "content-type": "text/javascript" } });
  export async function exporter() {
    await second.default({ module_or_path: bytes("${packed("reweight_lab_export_bg.wasm")}") });
    return second;
  }
  export const sheetPage = () => "";
  export const page = () => location.href.split(/[?#]/)[0];
`;
const script = await bundle('import "./page.js";', {
  plugins: [assets(inside)],
  define: { "import.meta.url": '""' },
});
// The same as a module, for bundlers that do not follow `new URL(file, import.meta.url)`.
writeFileSync(join(root, "reweight-lab.inline.js"), await bundle('export * from "./reweight-lab.js";', {
  format: "esm",
  plugins: [assets(inside)],
  define: { "import.meta.url": '""' },
}));
const put = (html, mark, text) => {
  if (!html.includes(mark)) throw new Error(`index.html: ${mark} was not found`);
  return html.replace(mark, () => text);
};
let html = read("index.html");
html = put(html, '<link rel="stylesheet" href="core/tokens.css">', `<style>${read("core/tokens.css")}</style>`);
html = put(html, '<link rel="stylesheet" href="page.css">', `<style>${read("page.css")}</style>`);
html = put(html, '<link rel="modulepreload" href="core/start.js">\n', "");
html = put(html, '<script type="module" src="page.js"></script>\n', "");
html = put(html, '<script src="hint.js" defer></script>\n', "");
// In the text of a script only its end tag, and what opens a comment, must not stand.
html = put(html, "</body>", `<script>${script.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--")}</script>\n</body>`);
writeFileSync(join(root, "reweight-lab.html"), html);

// ---- what a page may pin: the hash of every file, in the form of the attribute `integrity` -----------
const hash = (name) => `sha384-${createHash("sha384").update(readFileSync(join(root, name))).digest("base64")}`;
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/\.d\.ts$|^integrity\.json$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)).split(sep).join("/"))
  .sort();
writeFileSync(join(root, "integrity.json"), `${JSON.stringify(Object.fromEntries(files.map((name) => [name, hash(name)])), null, 1)}\n`);
