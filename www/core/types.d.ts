/** Shapes that cross between the page and the model. Times are ns as JS numbers (below 2^53). */

export type Row = "a" | "b";

export interface WindowTask {
  cpu_ns: number;
  /** cpu_ns over the window's length, 0..1 */
  share: number;
  switches: number;
  max_wait_ns: number;
}

export interface WindowResult {
  name: string;
  from_ns: number;
  to_ns: number;
  idle_ns: number;
  tasks: Record<string, WindowTask>;
}

export interface RunResult {
  row: Row;
  pi: string;
  windows: WindowResult[];
}

/** What `state()` gives: plain data. */
export interface LabState {
  format: 1;
  playing: boolean;
  time_ns: number;
  kernel: string;
  hz: number;
  holder: string | null;
  workload: string;
  runs: RunResult[];
}

export type Role = "holder" | "waiter" | "other";

export interface TaskInfo {
  id: number;
  name: string;
  policy: string;
  nice: number;
  rt_priority: number;
  cpu: number;
  weight: number;
  role: Role;
}

export interface Info {
  format: 1;
  title: string;
  question: string;
  look: string;
  kernel: string;
  kernels: { name: string; from_patches: boolean }[];
  hz: number;
  cpus_online: number;
  pi: string;
  variants: string[];
  duration_ns: number;
  holder: string | null;
  waiter: string | null;
  tasks: TaskInfo[];
  locks: { id: number; name: string }[];
  windows: { name: string; from_ns: number; to_ns: number }[];
  notices: string[];
  edits: Edit[];
}

export interface Edit {
  at_ns: number;
  task?: string;
  nice?: number;
  policy?: string;
  priority?: number;
  pi?: string;
}

export interface Preset {
  name: string;
  title: string;
  question: string;
  look: string;
  /** rt-app JSON */
  text: string;
}

export interface Mark {
  at_ns: number;
  kind: string;
  task?: string;
  lock?: string;
  donor?: string | null;
  old_prio?: number;
  prio?: number;
  old_weight?: number;
  weight?: number;
  nice?: number;
  pi?: string;
}

export interface RangeTask {
  run_ns: number;
  wait_ns: number;
  blocked_ns: number;
  sleep_ns: number;
  switches: number;
  max_wait_ns: number;
  share: number;
}

export interface Range {
  tasks: Record<string, RangeTask>;
  idle_ns: number;
}

export interface QueueEntity {
  task: number;
  name: string;
  current: boolean;
  vruntime: number;
  deadline: number;
  lag: number;
  eligible: boolean;
  protected: boolean;
  delayed: boolean;
  weight: number;
  slice: number;
  pr: number;
  ni: number;
}

export interface Queue {
  v: number;
  kind: "cfs" | "eevdf";
  entities: QueueEntity[];
}

export interface Steps {
  ran: number[];
  reweight: boolean;
  old_prio: number;
  prio: number;
  old_weight: number;
  weight: number;
  task: string;
  donor: string | null;
  at_ns: number;
}

export interface Why {
  at_ns: number;
  id: string;
  values: Record<string, string | number>;
  steps: Steps | null;
}

export interface SessionOptions {
  kernel?: string;
  hz?: number;
  cpus_online?: number;
  pi?: string;
  nice?: Record<string, number>;
  duration_ns?: number;
}

export interface Painted {
  height: number;
  plot: { x: number; width: number };
  tracks: { row: number; kind: "task" | "lock"; name: string; y: number; height: number }[];
}

/** One workload, two rows: 0 ("a") stock, 1 ("b") the chosen variant. Errors thrown are `Refusal`s. */
export interface Session {
  free(): void;
  info(): Info;
  set_nice(task: string, nice: number, at_ns: number): void;
  set_policy(task: string, policy: string, priority: number, at_ns: number): void;
  set_pi(variant: string, at_ns: number): void;
  set_kernel(name: string): void;
  set_hz(hz: number): void;
  set_cpus_online(n: number): void;
  add_task(name: string, nice: number): void;
  remove_task(name: string): void;
  rename_task(old: string, name: string): void;
  undo(): boolean;
  redo(): boolean;
  merge_undo(): void;
  undo_depth(): Uint32Array;
  reset(): void;
  runs(until_ns?: number): RunResult[];
  range(row: number, from_ns: number, to_ns: number): Range;
  segments(row: number, task: number, from_ns: number, to_ns: number): Float64Array;
  marks(row: number): Mark[];
  share_curve(row: number, task: number, from_ns: number, to_ns: number, window_ns: number, points: number): Float32Array;
  ideal_share(row: number, at_ns: number, task: number): number;
  next_decision(row: number, at_ns: number): number;
  prev_decision(row: number, at_ns: number): number;
  queue(row: number, at_ns: number): Queue;
  why(row: number, at_ns: number): Why | null;
  paint_density(g: CanvasRenderingContext2D, row: number, task: number, from_ns: number, to_ns: number, left: number, columns: number, y: number, scale: number, hue: string, wash: string): void;
  workload(): string;
}

export interface Refusal {
  message: string;
  file?: string;
  line?: number;
  column?: number;
  path?: string;
}

export interface Wasm {
  default(options: { module_or_path: unknown }): Promise<unknown>;
  version(): string;
  presets(): Preset[];
  Session: new (text: string, file: string, options?: SessionOptions) => Session;
}

/** Runs in other tools' formats, as the command line writes them. */
export interface Exporter {
  /** `pi`: variants, separated by commas; `format`: csv (all of them), ftrace, chrome, timehist (the first). Throws a `Refusal`. */
  write_run(text: string, file: string, pi: string, format: string): string;
}

/** What a part is told has changed. */
export type Topic = "session" | "time" | "view" | "select" | "play" | "theme" | "cover" | "notice";

/** A part of the page: made once, told what changed. */
export interface Part {
  node: Element;
  update(what: Set<Topic>): void;
  /** Does now what waits for quiet; true when something did. */
  hurry?(): boolean;
  /** Whether something on it still moves by itself. */
  readonly moving?: boolean;
  free?(): void;
}
