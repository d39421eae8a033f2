/** Something that is done once it has been quiet for a while: the live region, the address, axes that fit again. */

export class Calm {
  /** @param {number} ms of quiet @param {() => void} act */
  constructor(ms, act) {
    this.ms = ms;
    this.act = act;
    /** 0 when nothing is due. @private */
    this.timer = 0;
  }

  /** It is due, once it has been quiet from now on. */
  wait() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.hurry(), this.ms);
  }

  /** Does now what is due. @returns {boolean} whether something was */
  hurry() {
    if (!this.timer) return false;
    this.cancel();
    this.act();
    return true;
  }

  cancel() {
    clearTimeout(this.timer);
    this.timer = 0;
  }
}
