/** The form with which measurements are chosen. */

import { queryOf } from './address.js';
import { element, refill } from './element.js';
import { basename } from './format.js';

const CHOICES = ['notebook', 'framework', 'device'];
const TYPED = 300; // milliseconds after the last key
const SORTS = { regressions: 'regressions first', newest: 'newest first', name: 'name', time: 'slowest first' };

/** @param {Query} names by value */
const options = (names) => Object.entries(names).map(([value, name]) => element('option', { value }, name));

/** @param {string} name @param {HTMLElement} input */
export const field = (name, input) => element('label', {}, element('span', {}, name), input);

/** A form that tells what is chosen, as it is chosen. */
export class Filters {
  /** @param {(query: Query) => void} changed */
  constructor(changed) {
    /** The query that is shown. */
    this._shown = '';
    let typing = 0;
    const tell = () => {
      clearTimeout(typing);
      const given = [...new FormData(this.node)].map(([name, value]) => [name, String(value)]);
      const query = queryOf(new URLSearchParams([...given, ['newest', '0']]));
      const chosen = JSON.stringify(query);
      if (chosen === this._shown) return; // a redraw loses the click that leaves a field
      this._shown = chosen;
      changed(query);
    };
    this._selects = CHOICES.map((name) => element('select', { name }));
    this.node = element('form', {
      class: 'fw-filters',
      role: 'search',
      change: tell,
      submit: (event) => { event.preventDefault(); this._shown = ''; tell(); },
      input: ({ target }) => {
        clearTimeout(typing);
        if (target.name === 'text') typing = window.setTimeout(tell, TYPED);
      },
    },
    field('name or code', element('input', { type: 'search', name: 'text', maxlength: 500 })),
    ...this._selects.map((select) => field(select.name, select)),
    field('from', element('input', { type: 'date', name: 'since' })),
    field('to', element('input', { type: 'date', name: 'until' })),
    field('sorted by', element('select', { name: 'sort' }, ...options(SORTS))),
    element('label', { class: 'fw-check' }, element('input', { type: 'checkbox', name: 'newest', value: '1' }), 'last run of each code only'));
  }

  /** Show a query, and what can be chosen. @param {Query} query @param {Record<string, string[]>} names */
  fill(query, names) {
    for (const select of this._selects) offer(select, names[`${select.name}s`], query[select.name]);
    const shown = JSON.stringify({ ...query, offset: '0' });
    if (this._shown === shown) return; // who types goes on
    this._shown = shown;
    for (const each of this.node.elements) {
      const input = /** @type {HTMLInputElement} */ (each);
      if (input.type === 'checkbox') input.checked = query[input.name] === '1';
      else input.value = query[input.name] ?? '';
    }
  }
}

/** @param {HTMLSelectElement} select @param {string[]} values @param {string} [wanted] of an address */
function offer(select, values, wanted = '') {
  const all = [...new Set([...values, wanted])].filter(Boolean);
  const offered = all.join('\n');
  const { dataset, value } = select;
  if (dataset.offered === offered) return;
  dataset.offered = offered;
  const equal = new Set(all.map(basename)).size < all.length; // names in several folders
  refill(select, element('option', { value: '' }, 'all'),
    ...options(Object.fromEntries(all.map((each) => [each, equal ? each : basename(each)]))));
  select.value = value;
}
