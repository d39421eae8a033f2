/**
 * Colours and sizes for the painter, as the reader's page resolves them: light or dark, more contrast, forced colours,
 * the host's own custom properties. A hidden probe turns each token into a colour; a transition on it tells of changes.
 */
import { el } from "./dom.js";

const TOKENS = {
  surface: "surface",
  sunken: "sunken",
  ink: "ink",
  ink2: "ink-2",
  ink3: "ink-3",
  rule: "rule",
  edge: "edge",
  low: "low",
  lowWash: "low-wash",
  onLow: "on-low",
  high: "high",
  highWash: "high-wash",
  onHigh: "on-high",
  bg: "bg",
  bgWash: "bg-wash",
  onBg: "on-bg",
  patch: "patch",
  patchWash: "patch-wash",
  onPatch: "on-patch",
  zone: "zone",
  note: "note",
  cursor: "cursor",
  focus: "focus",
  select: "select",
};

export class Theme {
  /** @param {ShadowRoot} root @param {() => void} changed */
  constructor(root, changed) {
    this.probe = el("i", { class: "probe", "aria-hidden": "true" });
    root.append(this.probe);
    this.changed = changed;
    // --ink differs in every scheme: when it moves, all do.
    this.probe.addEventListener("transitionrun", () => {
      this.known = null;
      changed();
    });
    this.media = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    this.onpixels = () => changed();
    this.media.addEventListener("change", this.onpixels);
    /** @type {{ colors: Record<string, string>, font: string } | null} */
    this.known = null;
  }

  /** @returns {{ colors: Record<string, string>, font: string }} */
  read() {
    if (this.known) return this.known;
    const { probe } = this;
    const style = getComputedStyle(probe);
    /** @type {Record<string, string>} */
    const colors = {};
    probe.style.transition = "none";
    for (const [name, token] of Object.entries(TOKENS)) {
      probe.style.color = `var(--${token})`;
      colors[name] = style.color;
    }
    probe.style.color = "";
    const font = style.fontFamily;
    void style.color;
    probe.style.transition = "";
    this.known = { colors, font };
    return this.known;
  }

  get reducedMotion() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  free() {
    this.media.removeEventListener("change", this.onpixels);
    this.probe.remove();
  }
}
