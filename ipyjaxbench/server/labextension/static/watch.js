/** What is known of the notebook in front: its measurements, and what is measured now. */

import { ApiError } from './api.js';
import { baselineOf, pinBaseline } from './baseline.js';
import { isIn } from './live.js';

/** @typedef {import('./api.js').Measuring} Measuring */
/** @typedef {{path: string, cells: () => string[], reveal: (cell: string) => void}} Front */

const NONE = 'No measurements in this notebook yet. Time a line: %fwtime f(x)';
const ABSENT = 'Timings come from a server extension that is not running here. '
  + 'Where Jupyter runs: pip install "ipyjaxbench[server]", then restart it.';
const SILENT = 'The Jupyter server does not answer.';

/** Asks the server when it is told to, and tells who draws. */
export class Watch {
  /**
   * @param {import('./api.js').Api} api
   * @param {string} place address of the server, under which baselines are kept
   */
  constructor(api, place) {
    this._api = api;
    this._place = place;
    this._known = '';
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    /** Called when there is something new to ask. */
    this.wanted = () => {};
    /** @type {Front | null} */
    this.front = null;
    /** @type {import('./api.js').Notebook | null} */
    this.notebook = null;
    /** @type {Measuring[]} */
    this.measuring = [];
    this.message = '';
    this.absent = false;
  }

  /** The run that is pinned for this notebook. @returns {string | null} */
  get baseline() {
    return this.front && baselineOf(this._place + this.front.path);
  }

  /** Follow another notebook. @param {Front | null} front */
  follow(front) {
    this.front = front;
    this.notebook = null;
    this.message = front ? '' : 'Open a notebook to see its timings.';
    this._known = '';
    this.tell();
    this.wanted();
  }

  /** Compare with a run, or with the run before. @param {string | null} run */
  pin(run) {
    if (this.front) pinBaseline(this._place + this.front.path, run);
    this.tell();
    this.wanted();
  }

  /** What is measured in this notebook. @returns {Measuring[]} */
  get here() {
    const { front } = this;
    if (!front) return [];
    const cells = new Set(front.cells());
    return this.measuring.filter((now) => isIn(now, front.path, cells));
  }

  /** Ask once: what is measured now, and what is new since. */
  async ask() {
    try {
      const live = await this._api.live();
      this.absent = false;
      this.measuring = live.measuring;
      await this._askNotebook(live.version);
    } catch (error) {
      this.measuring = [];
      this._known = '';
      if (!(error instanceof ApiError)) {
        this.message = SILENT;
        throw error; // whoever polls waits longer
      }
      this.absent = error.status === 404;
      this.message = this.absent ? ABSENT : error.message;
    } finally {
      this.tell();
    }
  }

  /** @param {string} version of the history */
  async _askNotebook(version) {
    const { front, baseline } = this;
    const wanted = JSON.stringify([front?.path, baseline, version]);
    if (!front || wanted === this._known) return;
    try {
      const notebook = await this._api.notebook(front.path, baseline);
      if (front !== this.front) return; // another one came to the front meanwhile
      this.notebook = notebook;
      this.message = notebook.message || (notebook.cells.length ? '' : NONE);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.notebook = null;
      this.message = error.message;
    }
    this._known = wanted;
  }

  /** Have it drawn. */
  tell() {
    for (const listener of this.listeners) listener();
  }
}
