/** One measured cell in the panel, and on demand what was around it. */

import { code, element, refill, terms } from './element.js';
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
    this._shown = '';
    /** @type {Measured[]} */
    this._measured = [];
    /** @type {string | null} */
    this._baseline = null;
    this._summary = element('summary', { class: 'fw-row', click: () => actions.reveal(cell) });
    this._around = element('div', { class: 'fw-details' });
    this._details = element('details', { toggle: () => this._unfold() }, this._summary, this._around);
    this._now = element('div');
    this.node = element('li', { 'data-cell': cell }, this._details, this._now);
  }

  /** @param {Cell} cell @param {Measuring | null} now @param {string | null} baseline */
  update(cell, now, baseline) {
    const shown = JSON.stringify([cell, baseline]);
    refill(this._now, now && liveBar(now));
    if (shown !== this._shown) {
      this._shown = shown;
      this._measured = cell.measured;
      this._baseline = baseline;
      refill(this._summary, code(cell.line), ...cell.measured.map((each) => this._found(each, cell)));
      this._unfold();
    }
  }

  /** @param {Measured} it @param {Cell} cell */
  _found(it, { line: source, measured }) {
    const named = measured.length > 1 || !source.includes(it.name);
    return element('span', { class: 'fw-found' },
      named && element('span', { class: 'fw-name' }, line(it.name)),
      element('strong', {}, it.figure), verdict(it.verdict),
      element('span', { class: 'fw-change' }, this._change(it)),
      sparkline(it.trend));
  }

  /** @param {Measured} it */
  _change({ run, change }) {
    if (!this._baseline) return changed(change);
    if (run === this._baseline && change?.ratio === 1) return 'the baseline';
    return changed(change, 'against the baseline', 'not in the baseline');
  }

  _unfold() {
    if (this._details.open) refill(this._around, ...this._measured.map((it) => element('section', {},
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
