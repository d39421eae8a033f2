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
const startWriter = starter(second, "./reweight_lab_export_bg.wasm");

/** Runs both rows and hands the session to `f`; frees it whatever happens. */
async function session(workload, options, f) {
  await start();
  const preset = typeof workload === "string" && model.presets().find((p) => p.name === workload);
  const text = preset ? preset.text : typeof workload === "string" ? workload : JSON.stringify(workload);
  let made;
  try {
    made = new model.Session(text, preset ? preset.name : "workload.json", options);
  } catch (refusal) {
    if (refusal instanceof WebAssembly.RuntimeError) throw refusal;
    throw new WorkloadError(refusal);
  }
  try {
    return f(made);
  } finally {
    made.free();
  }
}

function report(made, row) {
  const info = made.info();
  const run = made.runs()[row];
  const whole = made.range(row, 0, info.duration_ns).tasks;
  return {
    format: 1, kernel: info.kernel, hz: info.hz, cpus_online: info.cpus_online, pi: run.pi, duration_ns: info.duration_ns,
    tasks: info.tasks.map(({ name, policy, nice }) => {
      const spent = whole[name];
      return { name, policy, nice, cpu_ns: spent.run_ns, wait_ns: spent.wait_ns, sleep_ns: spent.sleep_ns, blocked_ns: spent.blocked_ns };
    }),
    windows: run.windows,
    notices: info.notices,
  };
}

export const simulate = (workload, options = {}) => session(workload, options, (made) => report(made, 1));

export const compare = (workload, options = {}) => session(workload, options, (made) => [report(made, 0), report(made, 1)]);

export async function presets() {
  await start();
  return model.presets();
}

export async function write(workload, format, options = {}) {
  const [text, pi] = await session(workload, options, (made) => [made.workload(), made.info().pi]);
  await startWriter();
  try {
    return second.write_run(text, "workload.json", pi, format);
  } catch (refusal) {
    throw new WorkloadError(refusal);
  }
}
