/** The status item: what is measured now, else the last figure of the notebook in front. */

import { element, refill } from './element.js';
import { line } from './format.js';
import { headline } from './live.js';

/** @typedef {import('./api.js').Measuring} Measuring */

const MOURNING = 5000; // milliseconds for which a kernel that died is told

/** Draws what a watch knows in a line. */
export class Status {
  /**
   * @param {import('./watch.js').Watch} watch @param {() => void} open called when it is clicked
   * @param {() => number} [clock] milliseconds
   */
  constructor(watch, open, clock = Date.now) {
    this._watch = watch;
    this._clock = clock;
    /** When each kernel was first seen dead. @type {Map<string, number>} */
    this._died = new Map();
    this.shows = 'now and last';
    this.node = element('button', { type: 'button', class: 'fw-status', click: open });
    this.draw();
  }

  /** Draw what is new. */
  draw() {
    const text = this._text();
    this.node.hidden = !text;
    if (this.node.textContent !== text) refill(this.node, text);
    this.node.title = text && `${text} (Timings)`;
  }

  /** @returns {string} */
  _text() {
    if (this.shows === 'nothing') return '';
    const here = this._watch.here;
    const others = this._watch.measuring.filter((now) => !here.includes(now));
    const [now] = [...here, ...others].filter((each) => !each.died || this._mourns(each));
    if (now) return headline(now);
    return this.shows === 'now' ? '' : this._last();
  }

  /** @param {Measuring} now @returns {boolean} */
  _mourns({ run, began }) {
    const key = `${run} ${began}`;
    const since = this._died.get(key) ?? this._clock();
    if (!this._died.has(key)) {
      this._died.set(key, since);
      setTimeout(() => this.draw(), MOURNING + 50);
    }
    return this._clock() - since < MOURNING;
  }

  /** @returns {string} */
  _last() {
    const all = (this._watch.notebook?.cells ?? []).flatMap(({ measured }) => measured);
    if (!all.length) return '';
    const last = all.reduce((newest, each) => (each.when > newest.when ? each : newest));
    return `${line(last.name)}: ${last.figure}`;
  }
}
