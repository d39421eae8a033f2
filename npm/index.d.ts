/** The element `<reweight-lab>`, its events and its plain data. */
import type { LabState, RunResult, WindowResult, WindowTask } from "./core/types.js";

export type { LabState, RunResult, WindowResult, WindowTask };

/** What row b's mutex lends. */
export type Variant = "none" | "stock" | "reweight" | "reweight-v2" | "reweight-fixed" | "proxy-exec";

/** `change`: a control was moved, by the reader or by a call. `time_ns` is 0 for a start value. */
export interface ChangeDetail {
  /** `nice:low`, `pi`, `kernel`, `hz`, `play`, ... */
  control: string;
  value?: unknown;
  time_ns?: number;
}

/** `error`: why the lab could not start, or what it refused. */
export interface ErrorDetail {
  /** `no-wasm`, `old-browser`, `csp`, `not-found`, `status`, `no-answer`, `cors`, `file`, `mime`, `mime-js`, `memory`, `broken`, `import` */
  cause?: string;
  /** One sentence for the reader. */
  message: string;
}

export interface ReweightLabEventMap {
  ready: CustomEvent<LabState>;
  change: CustomEvent<ChangeDetail>;
  tick: CustomEvent<{ time_ns: number }>;
}

export class ReweightLabElement extends HTMLElement {
  /** Settles when the model is up and the first picture is painted; not while starting fails. */
  readonly ready: Promise<ReweightLabElement>;
  /**
   * Settles when the lab is at rest: started if it is in view or was told to, all arrived and drawn, no number or
   * colour on its way to another; what waits for a quiet moment is done first. A running clock is no unrest. Rejects
   * with the sentence shown when it cannot start, and the `cause` of the event `error`.
   */
  settled(): Promise<this>;
  preset: string;
  kernel: string;
  hz: number;
  cpusOnline: number;
  pi: string;
  layout: string;
  readonly playing: boolean;
  /** The clock, ns. */
  readonly timeNs: number;
  play(): Promise<void>;
  pause(): Promise<void>;
  /** On to the next scheduling decision of either row; -1 goes back. */
  step(direction?: 1 | -1): Promise<void>;
  reset(): Promise<void>;
  undo(): Promise<void>;
  redo(): Promise<void>;
  /** Sets the clock, ns. */
  seek(ns: number): Promise<void>;
  /** -20 to 19. */
  setNice(task: string, nice: number): Promise<void>;
  setPi(variant: Variant): Promise<void>;
  /** rt-app JSON, as text or as an object. */
  load(workload: string | object, name?: string): Promise<void>;
  state(): LabState;
  /** The session as rt-app JSON, with everything that was changed. */
  workload(): Promise<string>;
  addEventListener<K extends keyof ReweightLabEventMap>(type: K, listener: (this: ReweightLabElement, event: ReweightLabEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "reweight-lab": ReweightLabElement;
  }
}
