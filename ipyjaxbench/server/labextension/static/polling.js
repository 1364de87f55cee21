/** When the server is asked: while somebody can see the answer, and never else. */

const SETTLED = 1000; // milliseconds: shorter cells and pauses do not count
const DEATH_WITHIN = 6000; // in which it is known that a kernel died

/** Starts and stops a poll of the host. */
export class Polling {
  /** @param {any} Poll of Lumino @param {Watch} watch @param {any} panel its widget @param {{ shows: string }} status */
  constructor(Poll, watch, panel, status) {
    this._watch = watch;
    this._panel = panel;
    this._status = status;
    this._isBusy = false;
    this._isRunning = false;
    this._timer = 0;
    this._poll = new Poll({ auto: false, factory: () => watch.ask(), standby: 'when-hidden' });
    watch.wanted = () => this.now();
  }

  /** @param {number} seconds between two questions */
  every(seconds) {
    const interval = 1000 * Math.max(seconds, 2);
    this._poll.frequency = { interval, backoff: true, max: Math.max(30000, interval) };
  }

  /** Start or stop; `again` even where there was no server extension. */
  settle(again = false) {
    if (again) this._watch.absent = false;
    const isSeen = this._panel.isVisible || (this._isBusy && this._status.shows !== 'nothing');
    const running = isSeen && !this._watch.absent;
    if (running === this._isRunning) return;
    this._isRunning = running;
    if (running) this._poll.start();
    else this._poll.stop();
  }

  /** Ask now, if anybody can see the answer; for a last figure in the status bar once is enough. */
  now() {
    this.settle();
    if (this._isRunning) this._poll.refresh();
    else if (this._status.shows === 'now and last' && !this._watch.absent) this._watch.ask().catch(() => {});
  }

  /** While a kernel is busy, the status item is kept up; then come the last figures. @param {string} status */
  kernelIs(status) {
    clearTimeout(this._timer);
    const isBusy = status === 'busy';
    const ended = !isBusy && this._watch.measuring.length > 0;
    if (ended) this.now();
    this._timer = window.setTimeout(() => {
      this._isBusy = isBusy;
      if (isBusy) this.settle();
      else this.now();
    }, ended ? DEATH_WITHIN : SETTLED);
  }
}
