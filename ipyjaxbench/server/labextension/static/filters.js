/** The form with which measurements are chosen. */

import { queryOf } from './address.js';
import { element, refill } from './element.js';
import { basename } from './format.js';

const TYPED = 300; // milliseconds after the last key
const SORTS = { regressions: 'regressions first', newest: 'newest first', name: 'name', time: 'slowest first' };

/** @param {Query} names by value */
const options = (names) => Object.entries(names).map(([value, name]) => element('option', { value }, name));

/** @param {string} name @param {HTMLElement} input */
const field = (name, input) => element('label', {}, element('span', {}, name), input);

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
      this._shown = JSON.stringify(query);
      changed(query);
    };
    this._notebook = element('select', { name: 'notebook' });
    this._framework = element('select', { name: 'framework' });
    this._device = element('select', { name: 'device' });
    this.node = element('form', {
      class: 'fw-filters',
      role: 'search',
      change: tell,
      submit: (event) => { event.preventDefault(); tell(); },
      input: ({ target }) => {
        clearTimeout(typing);
        if (target.name === 'text') typing = window.setTimeout(tell, TYPED);
      },
    },
    field('Name or code', element('input', { type: 'search', name: 'text', maxlength: 500 })),
    field('Notebook', this._notebook), field('Framework', this._framework), field('Device', this._device),
    field('From', element('input', { type: 'date', name: 'since' })),
    field('To', element('input', { type: 'date', name: 'until' })),
    field('Sorted by', element('select', { name: 'sort' }, ...options(SORTS))),
    element('label', { class: 'fw-check' }, element('input', { type: 'checkbox', name: 'newest', value: '1' }), 'last run of each code only'));
  }

  /** Show a query, and what can be chosen. @param {Query} query @param {Record<string, string[]>} names */
  fill(query, names) {
    offer(this._notebook, names.notebooks, query.notebook);
    offer(this._framework, names.frameworks, query.framework);
    offer(this._device, names.devices, query.device);
    if (this._shown === JSON.stringify({ ...query, offset: '0' })) return; // who types goes on
    this._shown = JSON.stringify({ ...query, offset: '0' });
    for (const each of this.node.elements) {
      const input = /** @type {HTMLInputElement} */ (each);
      if (input.type === 'checkbox') input.checked = query[input.name] === '1';
      else input.value = query[input.name] ?? '';
    }
  }
}

/** @param {HTMLSelectElement} select @param {string[]} values @param {string | undefined} wanted of an address */
function offer(select, values, wanted) {
  const all = wanted && !values.includes(wanted) ? [...values, wanted] : values;
  if (select.dataset.offered === JSON.stringify(all)) return;
  const { value } = select;
  select.dataset.offered = JSON.stringify(all);
  const equal = new Set(all.map(basename)).size < all.length; // names in several folders
  refill(select, element('option', { value: '' }, 'all'),
    ...options(Object.fromEntries(all.map((each) => [each, equal ? each : basename(each)]))));
  select.value = value;
}
