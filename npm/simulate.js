/** The model without a page: the same WebAssembly as the element's, started when first asked. */
import * as model from "./reweight_lab.js";
import * as second from "./reweight_lab_export.js";

export class WorkloadError extends Error {
  constructor(refusal) {
    super(refusal?.message ?? String(refusal));
    this.name = "WorkloadError";
    for (const key of ["line", "column", "path"]) if (refusal?.[key] != null) this[key] = refusal[key];
  }
}

/** A file of this package; Node's fetch does not read files. */
async function bytes(url) {
  if (url.protocol !== "file:") return (await fetch(url)).arrayBuffer();
  const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
  return readFile(url);
}

/** Starts a module when first asked, once; again where that failed. @param {{ default: (from: object) => Promise<unknown> }} module @param {string} file */
function starter(module, file) {
  let started;
  return () =>
    (started ??= bytes(new URL(file, import.meta.url))
      .then((b) => module.default({ module_or_path: b }))
      .catch((e) => {
        started = undefined;
        throw e;
      }));
}

const start = starter(model, "./reweight_lab_bg.wasm");
const startSecond = starter(second, "./reweight_lab_export_bg.wasm");

/** The text of a workload and its name in messages. */
async function given(workload) {
  if (typeof workload !== "string") return [JSON.stringify(workload), "workload.json"];
  // A name has no brace; only for a name is the first module wanted.
  const preset = !workload.includes("{") && (await presets()).find((p) => p.name === workload);
  return preset ? [preset.text, preset.name] : [workload, "workload.json"];
}

/** What a refusal of the model is as an error; what is none of it, as it came. */
const thrown = (refusal) => (refusal instanceof Error ? refusal : new WorkloadError(refusal));

export async function simulate(workload, options = {}) {
  const [text, name] = await given(workload);
  await startSecond();
  try {
    return second.report(text, name, options);
  } catch (refusal) {
    throw thrown(refusal);
  }
}

export const compare = async (workload, options = {}) => [
  await simulate(workload, { ...options, pi: "stock" }),
  await simulate(workload, { ...options, pi: options.pi ?? "reweight" }),
];

export async function presets() {
  await start();
  return model.presets();
}

export async function write(workload, format, options = {}) {
  const [text, name] = await given(workload);
  await start();
  await startSecond();
  let made;
  try {
    // With the options in it.
    made = new model.Session(text, name, options);
    return second.write_run(made.workload(), "workload.json", made.info().pi, format);
  } catch (refusal) {
    throw thrown(refusal);
  } finally {
    made?.free();
  }
}
