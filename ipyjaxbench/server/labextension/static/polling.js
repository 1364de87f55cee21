/** When the server is asked: while somebody can see the answer, and never else. */

const BUSY_AFTER = 1000; // milliseconds: shorter cells are not watched
const DEATH_WITHIN = 6000; // in which it is known that a kernel died

/** Starts and stops a poll of the host. */
export class Polling {
  /** @param {any} Poll of Lumino @param {Watch} watch @param {(isBusy: boolean) => boolean} isSeen */
  constructor(Poll, watch, isSeen) {
    this._watch = watch;
    this._isSeen = isSeen;
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
    const running = this._isSeen(this._isBusy) && !this._watch.absent;
    if (running === this._isRunning) return;
    this._isRunning = running;
    if (running) this._poll.start();
    else this._poll.stop();
  }

  /** Ask now, if anybody can see the answer. */
  now() {
    this.settle();
    if (this._isRunning) this._poll.refresh();
  }

  /** While a kernel is busy, the status item is kept up; then come the last figures. @param {string} status */
  kernelIs(status) {
    clearTimeout(this._timer);
    const isBusy = status === 'busy';
    const wasMeasuring = this._watch.measuring.length > 0;
    if (!isBusy && wasMeasuring) this.now();
    if (!isBusy && !this._isBusy) return;
    this._timer = window.setTimeout(() => {
      this._isBusy = isBusy;
      this.settle();
    }, isBusy ? BUSY_AFTER : wasMeasuring ? DEATH_WITHIN : 0);
  }
}
