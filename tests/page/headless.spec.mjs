// The model without a page, npm/simulate.js beside the built modules, in Node: its report is the command line's.
import { cpSync, mkdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";
import { tool } from "./lab.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

test("a report in Node is what `simulate --format json` prints, to the digit", async ({}, info) => {
  // The command line may have to be compiled first.
  test.setTimeout(600_000);
  const folder = info.outputDir;
  mkdirSync(folder, { recursive: true });
  cpSync(`${root}dist`, folder, { recursive: true });
  for (const name of ["simulate.js", "package.json"]) cpSync(`${root}npm/${name}`, info.outputPath(name));
  const { simulate, compare, WorkloadError } = await import(pathToFileURL(info.outputPath("simulate.js")).href);
  const printed = (/** @type {string[]} */ ...args) => tool(...args, "--format", "json");
  const report = await simulate("patch-test", { pi: "reweight", kernel: "6.1" });
  const told = printed("simulate", "patch-test", "--pi", "reweight", "--kernel", "6.1");
  expect(report).toEqual(JSON.parse(told));
  // The order of the fields is part of it.
  expect(`${JSON.stringify(report, null, 2)}\n`.replaceAll(/\s/g, "")).toBe(told.replaceAll(/\s/g, "").replaceAll(/:(\d+)\.0([,}])/g, ":$1$2"));
  const both = await compare("fork-boosted");
  expect(both).toEqual(JSON.parse(printed("compare", "fork-boosted")));
  expect((await simulate("fork-boosted")).pi).toBe(both[0].pi);

  const refusal = (/** @type {any} */ workload, /** @type {object} */ options = {}) => simulate(workload, options).then(() => null, (/** @type {any} */ e) => e);
  expect(await refusal("{")).toBeInstanceOf(WorkloadError);
  expect(await refusal({ tasks: 7 })).toMatchObject({ line: 1, path: "tasks" });
  expect((await refusal("patch-test", { kernel: "2.4" })).message).toContain("6.1, 6.6, 6.12, 6.13, 6.18");
  expect((await refusal("patch-test", { pi: "fast" })).message).toContain("reweight-fixed");
  expect((await refusal("patch-test", { nice: { nobody: 1 } })).message).toContain("nobody");
  expect((await refusal("patch-test", { hz: 7 })).message).toContain("100, 250, 300 and 1000");
});
