/** One measured cell in the panel: what was found, what changed, and on demand what was around it. */

import { element, refill, terms } from './element.js';
import { factsOf } from './facts.js';
import { line } from './format.js';
import { liveBar } from './live.js';
import { sparkline } from './sparkline.js';
import { changed, verdict } from './verdict.js';

/** A row; it is drawn again where something of it is new. */
export class Row {
  /** @param {string} cell its id @param {Actions} actions */
  constructor(cell, actions) {
    this._actions = actions;
    this._shown = this._live = '';
    /** @type {Measured[]} */
    this._measured = [];
    /** @type {string | null} */
    this._baseline = null;
    this._button = element('button', {
      type: 'button', class: 'fw-row', 'aria-expanded': 'false', click: () => {
        actions.reveal(cell);
        this._details.hidden = !this._details.hidden;
        this._button.setAttribute('aria-expanded', String(!this._details.hidden));
        this._unfold();
      },
    });
    this._now = element('div');
    this._details = element('div', { class: 'fw-details', hidden: true });
    this.node = element('li', { 'data-cell': cell }, this._button, this._now, this._details);
  }

  /** @param {Cell} cell @param {Measuring | null} now @param {string | null} baseline */
  update(cell, now, baseline) {
    const [shown, live] = [JSON.stringify([cell, baseline]), JSON.stringify(now)];
    if (shown !== this._shown) {
      this._shown = shown;
      this._measured = cell.measured;
      this._baseline = baseline;
      refill(this._button, element('code', { title: line(cell.line) }, line(cell.line)),
        ...cell.measured.map((each) => this._found(each, cell)));
      this._unfold();
    }
    if (live !== this._live) {
      this._live = live;
      refill(this._now, now && liveBar(now));
    }
  }

  /** @param {Measured} it @param {Cell} cell */
  _found(it, { line: code, measured }) {
    const named = measured.length > 1 || !code.includes(it.name);
    return element('span', { class: 'fw-found' },
      named && element('span', { class: 'fw-name' }, line(it.name)),
      element('strong', {}, it.figure), verdict(it.verdict),
      element('span', { class: 'fw-change' }, this._change(it)),
      sparkline(it.trend));
  }

  /** @param {Measured} it */
  _change({ run, change }) {
    if (!this._baseline) return changed(change);
    const isItself = run === this._baseline && change?.ratio === 1;
    return isItself ? 'the baseline' : changed(change, 'against the baseline', 'not in the baseline');
  }

  _unfold() {
    if (this._details.hidden) return;
    refill(this._details, ...this._measured.map((it) => element('section', {},
      this._measured.length > 1 && element('h4', {}, line(it.name)), terms(factsOf(it)), it.id && this._deeds(it))));
  }

  /** @param {Measured} it */
  _deeds({ run, series }) {
    const pinned = run === this._baseline;
    return element('p', {},
      element('button', {
        type: 'button', class: 'jp-mod-styled jp-mod-minimal', 'aria-pressed': String(pinned),
        click: () => this._actions.pin(pinned ? null : run),
      }, pinned ? 'Unpin this baseline' : 'Pin this run as baseline'),
      element('a', { href: this._actions.page({ series }), target: '_blank', rel: 'noopener' }, 'All its runs'));
  }
}
