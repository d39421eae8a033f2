/** The model without a page: in Node, in a worker, in a browser. */
import type { Preset, WindowResult } from "./core/types.js";
import type { Variant } from "./index.js";

export interface Options {
  /** 6.1, 6.6, 6.12, 6.13, 6.18 */
  kernel?: string;
  /** 100, 250, 300, 1000 */
  hz?: number;
  /** 1 to 1024; scales the tunables only. */
  cpus_online?: number;
  /** By default the workload's own, else `stock`; `compare`'s second run and `write`: else `reweight`. */
  pi?: Variant;
  /** Start nice by task. */
  nice?: Record<string, number>;
  duration_ns?: number;
}

export interface TaskReport {
  name: string;
  policy: string;
  nice: number;
  cpu_ns: number;
  wait_ns: number;
  sleep_ns: number;
  blocked_ns: number;
  /** The effective prio at the end of the run; 120 is nice 0. */
  prio: number;
  /** The table weight at the end of the run; 1024 is nice 0. */
  weight: number;
}

/** What the command line's `simulate --format json` prints; format 1. */
export interface Report {
  format: 1;
  kernel: string;
  hz: number;
  cpus_online: number;
  pi: string;
  duration_ns: number;
  /** Changes of the running task. */
  switches: number;
  /** Picks, those of the running task again included. */
  decisions: number;
  tasks: TaskReport[];
  windows: WindowResult[];
  notices: string[];
}

export type { Preset };

/** A workload that is not one, or an option that is not known. `line`, `column`, `path` where it has a place. */
export class WorkloadError extends Error {
  line?: number;
  column?: number;
  path?: string;
}

/** One run. `workload`: a preset's name, or rt-app JSON as text or as an object. */
export function simulate(workload: string | object, options?: Options): Promise<Report>;
/** The stock kernel, and the chosen variant (`reweight`, if none is chosen). */
export function compare(workload: string | object, options?: Options): Promise<[Report, Report]>;
/** The scenarios that come with the lab. */
export function presets(): Promise<Preset[]>;
/** A run in another tool's format, as the command line writes it. */
export function write(workload: string | object, format: "csv" | "ftrace" | "chrome" | "timehist", options?: Options): Promise<string>;
