/** What is known of the notebook in front: its measurements, and what is measured now. */

import { baselineOf, pinBaseline } from './baseline.js';
import { isIn } from './live.js';

const NONE = 'No measurements in this notebook yet. Time a line: %fwtime f(x)';
const ABSENT = 'Timings come from a server extension that is not running here: pip install "ipyjaxbench[server]"';
const CLOSED = 'Open a notebook to see its timings.';

/** Asks the server, and calls its listeners, who draw. */
export class Watch {
  /** @param {Api} api @param {string} place of the server: baselines are kept by it */
  constructor(api, place) {
    this._api = api;
    this._place = place;
    this._known = '';
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.wanted = () => {}; // there is something new to ask
    /** @type {Front | null} */
    this.front = null;
    /** @type {Notebook | null} */
    this.notebook = null;
    /** @type {Measuring[]} */
    this.measuring = [];
    this.message = CLOSED;
    this.absent = false;
  }

  /** The run that is pinned for this notebook. */
  get baseline() {
    return this.front && baselineOf(this._place + this.front.path);
  }

  /** What is measured in this notebook. */
  get here() {
    const { front } = this;
    const cells = front?.cells() ?? [];
    return this.measuring.filter((now) => front && isIn(now, front.path, cells));
  }

  /** Follow another notebook. @param {Front | null} front */
  follow(front) {
    this.front = front;
    this.notebook = null;
    this.message = front ? '' : CLOSED;
    this.notify();
    this.reread();
  }

  /** Read the notebook, which was saved. */
  reread() {
    this._known = '';
    this.wanted();
  }

  /** Compare with a run, or with the run before. @param {string | null} run */
  pin(run) {
    if (this.front) pinBaseline(this._place + this.front.path, run);
    this.notify();
    this.wanted();
  }

  /** Ask once: what is measured now, and what is new since. */
  async ask() {
    let answered = false;
    try {
      const { measuring, version } = await this._api.live();
      answered = true;
      this.absent = false;
      this.measuring = measuring;
      await this._askNotebook(version);
    } catch (error) {
      this._known = '';
      this.absent = !answered && error.status === 404;
      this.message = this.absent ? ABSENT : error.message;
      throw error; // who polls waits longer
    } finally {
      this.notify();
    }
  }

  /** @param {string} version of the history */
  async _askNotebook(version) {
    const { front, baseline } = this;
    const wanted = JSON.stringify([front?.path, baseline, version]);
    if (!front || wanted === this._known) return;
    const notebook = await this._api.notebook(front.path, baseline);
    if (front !== this.front) return; // another one came to the front meanwhile
    this._known = wanted;
    this.notebook = notebook;
    this.message = notebook.message || (notebook.cells.length ? '' : NONE);
  }

  /** Have it drawn. */
  notify() {
    for (const listener of this.listeners) listener();
  }
}
