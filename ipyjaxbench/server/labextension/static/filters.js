/** The form with which measurements are chosen. */

import { element, refill } from './element.js';
import { basename } from './format.js';

/** @typedef {Record<string, string>} Query */

const TYPED = 300; // milliseconds after the last key
/** @type {[string, string][]} */
const SORTS = [['regressions', 'regressions first'], ['newest', 'newest first'], ['name', 'name'], ['time', 'slowest first']];
/** @type {[string, string, string][]} */
const CHOICES = [['notebook', 'Notebook', 'notebooks'], ['framework', 'Framework', 'frameworks'], ['device', 'Device', 'devices']];

/**
 * What an address asks for.
 * @param {URLSearchParams} address @returns {Query}
 */
export function queryOf(address) {
  /** @type {Query} */
  const query = { newest: address.get('newest') === '0' ? '0' : '1', sort: address.get('sort') || 'regressions' };
  for (const name of ['text', 'notebook', 'framework', 'device', 'since', 'until', 'offset']) {
    const value = address.get(name);
    if (value) query[name] = value;
  }
  return query;
}

/** A form that tells what is chosen, as it is chosen. */
export class Filters {
  /** @param {(query: Query) => void} changed */
  constructor(changed) {
    /** @type {number | undefined} */
    this._typing = undefined;
    const submit = () => {
      clearTimeout(this._typing);
      const query = Object.fromEntries([...new FormData(this.node)].map(([name, value]) => [name, String(value)]));
      changed({ ...query, newest: query.newest ?? '0' });
    };
    const later = () => {
      clearTimeout(this._typing);
      this._typing = window.setTimeout(submit, TYPED);
    };
    this._selects = CHOICES.map(([name]) => element('select', { name }));
    this.node = element('form', {
      class: 'fw-filters', role: 'search', change: submit, input: (event) => event.target.name === 'text' && later(),
      submit: (event) => { event.preventDefault(); submit(); },
    },
    field('Name or code', element('input', { type: 'search', name: 'text', maxlength: 500 })),
    ...CHOICES.map(([, label], i) => field(label, this._selects[i])),
    field('From', element('input', { type: 'date', name: 'since' })),
    field('To', element('input', { type: 'date', name: 'until' })),
    field('Sorted by', element('select', { name: 'sort' }, ...SORTS.map(([value, name]) => element('option', { value }, name)))),
    element('label', { class: 'fw-check' }, element('input', { type: 'checkbox', name: 'newest', value: '1' }), ' last run of each code only'));
  }

  /** Show a query. @param {Query} query */
  fill(query) {
    CHOICES.forEach(([name], i) => offerAlso(this._selects[i], query[name]));
    for (const field of this.node.elements) {
      if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = query[field.name] === '1';
      else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) {
        const value = query[field.name] ?? '';
        if (field.value !== value) field.value = value;
      }
    }
  }

  /** Offer what there is. @param {Record<string, string[]>} names @param {Query} query */
  offer(names, query) {
    CHOICES.forEach(([name, , of], i) => {
      const select = this._selects[i];
      const known = names[of] ?? [];
      const shown = JSON.stringify(known);
      if (select.dataset.shown !== shown) {
        select.dataset.shown = shown;
        const twice = new Set(known.map(basename)).size < known.length;
        refill(select, element('option', { value: '' }, 'all'),
          ...known.map((value) => element('option', { value }, twice || name !== 'notebook' ? value : basename(value))));
      }
      offerAlso(select, query[name]);
      select.value = query[name] ?? '';
    });
  }
}

/** Offer a value of an address, too. @param {HTMLSelectElement} select @param {string | undefined} value */
function offerAlso(select, value) {
  if (value && ![...select.options].some((option) => option.value === value)) {
    select.append(element('option', { value }, basename(value)));
  }
}

/** @param {string} name @param {HTMLElement} input @returns {HTMLLabelElement} */
function field(name, input) {
  return element('label', {}, element('span', {}, name), input);
}
