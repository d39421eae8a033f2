// Makes the npm package: `node pack.mjs ROOT DIST OUT` puts its folder at OUT/package and its tarball beside.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [root, dist, out] = process.argv.slice(2);
const version = /^version = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))?.[1];
if (!version) throw new Error("Cargo.toml: no version was found");
const folder = join(out, "package");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(dist, folder, { recursive: true });
cpSync(join(root, "npm"), folder, { recursive: true });
for (const license of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(root, license), join(folder, license));
const { name, ...rest } = JSON.parse(readFileSync(join(root, "npm/package.json"), "utf8"));
writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, version, ...rest }, null, 2)}\n`);
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const [packed] = JSON.parse(execFileSync(npm, ["pack", "--json", "--ignore-scripts", "--pack-destination", out], { cwd: folder, encoding: "utf8" }));
console.log(join(out, packed.filename));
