/** The status item: what is measured now, else the last figure of the notebook in front. */

import { element, refill } from './element.js';
import { line } from './format.js';
import { progress } from './live.js';

const DEATH_SHOWN = 5000; // milliseconds

/** Draws what a watch knows in a line. */
export class Status {
  /** @param {Watch} watch @param {() => void} open called when it is clicked */
  constructor(watch, open) {
    this._watch = watch;
    /** When each kernel was first seen dead. @type {Map<string, number>} */
    this._died = new Map();
    this.shows = 'nothing'; // until the settings are there
    this.node = element('button', { type: 'button', class: 'fw-status', click: open });
    this.draw();
  }

  /** Draw what is new. */
  draw() {
    const text = this._text();
    this.node.hidden = !text;
    this.node.title = text;
    if (this.node.textContent !== text) refill(this.node, text);
  }

  _text() {
    const { here, measuring, notebook } = this._watch;
    if (this.shows === 'nothing') return '';
    const now = [...here, ...measuring].find((each) => !each.died || this._isNews(each));
    if (now) return `${line(now.line)}: ${progress(now)}`;
    const all = (notebook?.cells ?? []).map(({ measured }) => measured);
    if (this.shows === 'now' || !all.length) return '';
    const last = all.reduce((newest, each) => (each[0].when > newest[0].when ? each : newest));
    return line(last.map(({ name, figure }) => `${name}: ${figure}`).join(', '));
  }

  /** @param {Measuring} now */
  _isNews({ run, began }) {
    const key = `${run} ${began}`;
    const since = this._died.get(key);
    if (since !== undefined) return Date.now() - since < DEATH_SHOWN;
    this._died.set(key, Date.now());
    setTimeout(() => this.draw(), DEATH_SHOWN);
    return true;
  }
}
