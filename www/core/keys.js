/** The keyboard, for a reader who is inside the lab. Letters act anywhere inside but in a field; arrows and Space on the timeline. */

/** @param {import("./lab.js").Lab} lab @param {number} direction one tick */
const tick = (lab, direction) => lab.seek(lab.time + (direction * 1e9) / lab.info.hz);

/**
 * What a key does, or nothing.
 * @param {import("./lab.js").Lab} lab @param {KeyboardEvent} e @param {boolean} onTimeline @param {import("./view.js").Context} ctx
 * @returns {(() => void) | undefined}
 */
export function keyAction(lab, e, onTimeline, ctx) {
  if (e.ctrlKey || e.metaKey) {
    if (e.altKey) return undefined;
    const key = e.key.toLowerCase();
    if (key === "z" && !e.shiftKey) return () => ctx.attempt(() => lab.undo());
    if (key === "z" || (key === "y" && !e.shiftKey)) return () => ctx.attempt(() => lab.redo());
    return undefined;
  }
  if (e.altKey) return undefined;
  const moved = (/** @type {() => void} */ f) => () => {
    f();
    lab.show();
  };
  if (onTimeline) {
    switch (e.key) {
      case "ArrowLeft":
        return moved(() => (e.shiftKey ? tick(lab, -1) : lab.step(-1)));
      case "ArrowRight":
        return moved(() => (e.shiftKey ? tick(lab, 1) : lab.step(1)));
      case "ArrowUp":
        return () => lab.zoom(1 / 1.6);
      case "ArrowDown":
        return () => lab.zoom(1.6);
      case "PageUp":
        return () => lab.pan(-0.8 * lab.span);
      case "PageDown":
        return () => lab.pan(0.8 * lab.span);
      case "Home":
        return moved(() => lab.seek(0));
      case "End":
        return moved(() => lab.seek(lab.duration));
      case " ":
        return () => (lab.playing ? lab.pause() : lab.play());
    }
  }
  const to = (/** @type {number | null | undefined} */ at, /** @type {"boost" | "release"} */ what) => () => {
    if (at === null || at === undefined) return;
    lab.seek(at);
    lab.look(what);
  };
  switch (e.key) {
    case "b":
    case "B":
      return to(lab.boosts[1] ?? lab.boosts[0], "boost");
    case "r":
    case "R":
      return to(lab.releases[1] ?? lab.releases[0], "release");
    case "p":
    case "P":
      return () => ctx.attempt(() => lab.togglePatch());
    case ",":
      return moved(() => lab.step(-1));
    case ".":
      return moved(() => lab.step(1));
    case "+":
    case "=":
    case "w":
    case "W":
      return () => lab.zoom(1 / 1.6);
    case "-":
    case "−":
    case "s":
    case "S":
      return () => lab.zoom(1.6);
    case "a":
    case "A":
      return () => lab.pan(-0.2 * lab.span);
    case "d":
    case "D":
      return () => lab.pan(0.2 * lab.span);
    case "0":
      return () => lab.look("all");
    case "f":
    case "F":
      return () => (lab.select ? lab.setView(lab.select[0], lab.select[1]) : lab.look("boost"));
    case "?":
      return () => ctx.dialog("keys");
  }
  return undefined;
}

/** @param {ShadowRoot} root @param {import("./lab.js").Lab} lab @param {Element} slider @param {import("./view.js").Context} ctx */
export function listen(root, lab, slider, ctx) {
  root.addEventListener("keydown", (event) => {
    const e = /** @type {KeyboardEvent} */ (event);
    if (e.defaultPrevented) return;
    const target = /** @type {HTMLElement} */ (e.target);
    if (target.closest("dialog")) return;
    if (e.key === "Escape") return target.blur();
    const typed = target.matches("select, textarea, input:not([type=range])");
    const onTimeline = target === slider;
    if (typed && !((e.ctrlKey || e.metaKey) && target.matches("select"))) return;
    const act = keyAction(lab, e, onTimeline, ctx);
    if (!act) return;
    e.preventDefault();
    // The page around must not take the key a second time.
    e.stopPropagation();
    act();
  });
}
