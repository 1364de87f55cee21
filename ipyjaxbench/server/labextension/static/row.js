/** One measured cell in the panel: what was found, what changed, and on demand what was around it. */

import { element, refill, terms } from './element.js';
import { line, moment, revision, span, versions } from './format.js';
import { liveBar } from './live.js';
import { phaseBar } from './phases.js';
import { sparkline } from './sparkline.js';
import { changed, verdict } from './verdict.js';

/** @typedef {import('./api.js').Cell} Cell */
/** @typedef {import('./api.js').Measured} Measured */
/** @typedef {import('./api.js').Measuring} Measuring */
/**
 * @typedef {object} Actions
 * @property {(cell: string) => void} reveal scrolls to a cell
 * @property {(run: string | null) => void} pin
 * @property {(query: Record<string, string>) => string} page address of the page
 */

/** A row; it is drawn again where something of it is new. */
export class Row {
  /** @param {string} cell @param {Actions} actions */
  constructor(cell, actions) {
    this._actions = actions;
    this._shown = '';
    this._live = '';
    /** @type {[Cell, string | null] | null} */
    this._told = null;
    this._button = element('button', {
      type: 'button', class: 'fw-row', 'aria-expanded': 'false', click: () => {
        actions.reveal(cell);
        this._fold(this._details.hidden);
      },
    });
    this._now = element('div', { 'aria-live': 'off' });
    this._details = element('div', { class: 'fw-details', hidden: true });
    this.node = element('li', { 'data-cell': cell }, this._button, this._now, this._details);
  }

  /**
   * @param {Cell} cell @param {Measuring | undefined} now @param {string | null} baseline
   */
  update(cell, now, baseline) {
    const shown = JSON.stringify([cell, baseline]);
    if (shown !== this._shown) {
      this._shown = shown;
      this._told = [cell, baseline];
      const several = cell.measured.length > 1;
      const against = baseline ? 'against the baseline' : 'against the run before';
      refill(this._button, element('code', { title: line(cell.line) }, line(cell.line)),
        ...cell.measured.map((measured) => found(measured, several || !cell.line.includes(measured.name), against)));
      if (!this._details.hidden) this._fold(true);
    }
    const live = JSON.stringify(now ?? null);
    if (live !== this._live) {
      this._live = live;
      refill(this._now, now && liveBar(now));
    }
  }

  /** @param {boolean} open */
  _fold(open) {
    this._button.setAttribute('aria-expanded', String(open));
    this._details.hidden = !open;
    if (!open || !this._told) return;
    const [{ measured }, baseline] = this._told;
    refill(this._details, ...measured.map((each) => around(each, measured.length > 1, baseline, this._actions)));
  }
}

/** @param {Measured} measured @param {boolean} named @param {string} against */
function found(measured, named, against) {
  return element('span', { class: 'fw-found' },
    named && element('span', { class: 'fw-name' }, line(measured.name)),
    element('span', { class: 'fw-figure' }, measured.figure), verdict(measured.verdict),
    element('span', { class: 'fw-change' }, changed(measured.change, against) ?? 'first run'),
    sparkline(measured.trend));
}

/**
 * @param {Measured} measured @param {boolean} named @param {string | null} baseline
 * @param {Actions} actions
 */
function around(measured, named, baseline, actions) {
  const pinned = measured.run === baseline;
  return element('section', {},
    named && element('h4', {}, line(measured.name)),
    terms([
      ['measured', measured.when ? moment(measured.when) : 'saved in this notebook'],
      ['range', measured.low !== null && measured.high !== null ? span(measured.low, measured.high) : ''],
      ['versions', versions(measured.frameworks, measured.python)],
      ['device', measured.devices.join(', ')],
      ['git', revision(measured.revision)],
      ['first call', phaseBar(measured.first_call)],
    ]),
    measured.id && element('p', {},
      element('button', {
        type: 'button', class: 'jp-mod-styled jp-mod-minimal fw-pin', 'aria-pressed': String(pinned),
        click: () => actions.pin(pinned ? null : measured.run),
      }, pinned ? 'Unpin this baseline' : 'Pin this run as baseline'), ' ',
      element('a', { href: actions.page({ series: measured.series }), target: '_blank', rel: 'noopener' }, 'All its runs')));
}
