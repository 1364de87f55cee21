/** The view of all measurements: filters, a table, what can be downloaded. */

import { element, refill } from './element.js';
import { Filters, queryOf } from './filters.js';
import { count } from './format.js';
import { measuredTable } from './table.js';

/** @typedef {import('./api.js').Api} Api */
/** @typedef {import('./api.js').History} History */

const PAGE = 100; // rows

/** Kept while the page is open: what is typed stays, and so does the focus. */
export class Measurements {
  /** @param {Api} api @param {(href: string, within?: boolean) => void} go */
  constructor(api, go) {
    this._api = api;
    this._filters = new Filters((query) => go(addressOf(query), true));
    this._found = element('div', {});
    this.node = element('div', {}, this._filters.node, this._found);
  }

  /** @param {URLSearchParams} address @returns {Promise<{title: string, node: Node}>} */
  async show(address) {
    const query = queryOf(address);
    this._filters.fill(query);
    const found = await this._api.history({ ...query, limit: String(PAGE) });
    this._filters.offer(found.names, query);
    refill(this._found, ...results(found, query));
    return { title: 'Measurements', node: this.node };
  }
}

/** @param {History} found @param {Record<string, string>} query @returns {(Node | null)[]} */
function results(found, query) {
  const { measured, offset, kept, message } = found;
  if (!kept) {
    return [element('p', { class: 'fw-message' }, message || 'No measurements yet: %fwtime and %%fwcompare save theirs.')];
  }
  const last = offset + measured.length;
  const part = measured.length < found.found ? `${(offset + 1).toLocaleString('en')}–${last.toLocaleString('en')} of ` : '';
  const told = query.newest === '1' ? 'code' : 'measurement';
  return [
    message ? element('p', { class: 'fw-message' }, message) : null,
    measured.length
      ? measuredTable(measured, `${part}${count(found.found, told)}`)
      : element('p', { class: 'fw-message' }, `None of ${count(kept, 'measurement')} matches.`),
    pages(query, offset, found.found),
    footer(found, query),
  ];
}

/** @param {Record<string, string>} query @param {number} offset @param {number} found @returns {Node | null} */
function pages(query, offset, found) {
  if (found <= PAGE) return null;
  const link = (/** @type {number} */ to, /** @type {string} */ name, /** @type {string} */ rel) => element('a', {
    href: addressOf({ ...query, offset: String(to) }), rel,
  }, name);
  return element('nav', { class: 'fw-pages', 'aria-label': 'Pages' },
    offset > 0 && link(Math.max(offset - PAGE, 0), '← Previous', 'prev'), ' ',
    offset + PAGE < found && link(offset + PAGE, 'Next →', 'next'));
}

/** @param {History} found @param {Record<string, string>} query @returns {Node} */
function footer({ owner, folder, kept, unread }, query) {
  const all = { ...query };
  delete all.offset;
  const download = (/** @type {string} */ format, /** @type {string} */ name) => element('a', {
    href: `ipyjaxbench/api/history?${new URLSearchParams({ ...all, format })}`, download: true,
  }, name);
  const lines = Object.values(unread).reduce((sum, each) => sum + each, 0);
  return element('footer', {},
    element('p', { class: 'fw-downloads' }, 'Download: ', download('csv', 'CSV'), ' ', download('jsonl', 'JSON lines')),
    element('p', {}, `${count(kept, 'measurement')} of ${owner || 'this user'} in `, element('code', {}, folder),
      lines > 0 && `; ${count(lines, 'line')} could not be read: ${Object.keys(unread).slice(0, 3).join(', ')}`));
}

/** The address of a query, without what goes without saying. @param {Record<string, string>} query */
function addressOf(query) {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const usual = { newest: '1', sort: 'regressions', offset: '0' }[name] ?? '';
    if (value !== usual) told.set(name, value);
  }
  return `${location.pathname}${told.size ? '?' : ''}${told}`;
}
