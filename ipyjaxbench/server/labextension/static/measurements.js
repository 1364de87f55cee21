/** The view of all measurements: filters, a table, what can be downloaded. */

import { addressOf, link, queryOf } from './address.js';
import { element, refill } from './element.js';
import { Filters } from './filters.js';
import { count } from './format.js';
import { measuredTable } from './table.js';

const PAGE = 100; // rows

/** Kept while the page is open, so that who types into it goes on. */
export class Measurements {
  /** @param {Api} api @param {(href: string) => void} go */
  constructor(api, go) {
    this._api = api;
    this._turn = 0;
    this._filters = new Filters((query) => go(addressOf(query)));
    this._found = element('div');
    this._node = element('div', {}, this._filters.node, this._found);
  }

  /** @param {URLSearchParams} address */
  async show(address) {
    const query = queryOf(address);
    const asked = ++this._turn;
    const found = await this._api.history({ ...query, limit: String(PAGE) });
    if (asked === this._turn) { // nothing else was asked for meanwhile
      this._filters.fill(query, found.names);
      refill(this._found, ...results(found, query));
    }
    return { title: 'Measurements', node: this._node };
  }
}

/** @param {Found} all @param {Query} query @returns {Child[]} */
function results({ measured, offset, found, kept, message, owner, folder, unread }, query) {
  const part = measured.length < found && `${offset + 1}–${offset + measured.length} of `;
  const lines = Object.values(unread).reduce((sum, each) => sum + each, 0);
  const turn = (/** @type {number} */ to, /** @type {string} */ name) => to < found
    && link({ ...query, offset: String(to) }, name);
  const downloads = [['csv', 'CSV'], ['jsonl', 'JSON lines']].map(([format, name]) => element('a', {
    href: `ipyjaxbench/api/history?${new URLSearchParams({ ...query, offset: '0', format })}`, download: true,
  }, name));
  return [
    (message || !found) && element('p', { class: 'fw-message' }, message || 'None matches.'),
    found > 0 && measuredTable(measured, `${part || ''}${count(found, query.newest === '1' ? 'code' : 'measurement')}`),
    part && element('nav', { class: 'fw-links', 'aria-label': 'Pages' },
      offset > 0 && turn(Math.max(offset - PAGE, 0), '← Previous'), turn(offset + PAGE, 'Next →')),
    kept > 0 && element('p', { class: 'fw-links' }, 'Download', ...downloads),
    kept > 0 && element('p', { class: 'fw-small' }, `${count(kept, 'measurement')} of ${owner || 'this user'} in ${folder}`,
      lines > 0 && `; ${count(lines, 'line')} could not be read: ${Object.keys(unread).slice(0, 3).join(', ')}`),
  ];
}
