/** The view of a comparison: two measurements or two saved notebooks, what differs around them first. */

import { element } from './element.js';
import { basename, count, line } from './format.js';
import { addressOf } from './table.js';
import { changed, verdict } from './verdict.js';

/** @typedef {import('./api.js').Comparison} Comparison */

const ORDER = ['SLOWER', 'FASTER', "CAN'T TELL", 'SAME'];

/**
 * @param {import('./api.js').Api} api @param {URLSearchParams} query
 * @returns {Promise<{title: string, node: Node}>}
 */
export async function showComparison(api, query) {
  const [before, after] = [query.get('before') ?? '', query.get('after') ?? ''];
  const { names } = await api.history({ limit: '1' });
  const asked = form(before, after, names.notebooks ?? []);
  if (!before || !after) {
    return { title: 'Compare', node: element('article', {}, element('h2', {}, 'Compare'), asked, help()) };
  }
  const told = await api.compare(before, after).catch((/** @type {Error} */ error) => error);
  return {
    title: 'Compare',
    node: element('article', {}, ...(told instanceof Error
      ? [element('h2', {}, 'Compare'), element('p', { class: 'fw-message', role: 'alert' }, told.message)] : answer(told)), asked),
  };
}

/** @param {Comparison} told @returns {Node[]} */
function answer({ before, after, differs, pairs, only_before: lost, only_after: gained }) {
  const notebooks = before.endsWith('.ipynb');
  const [first, second] = notebooks ? shortest(before, after) : ['before', 'after'];
  const order = (/** @type {import('./api.js').Pair} */ { change }) => (ORDER.indexOf(change?.verdict ?? '') + ORDER.length + 1) % (ORDER.length + 1);
  const sorted = [...pairs].sort((a, b) => order(a) - order(b));
  return [
    element('h2', {}, notebooks ? `${first} → ${second}` : element('code', {}, line(pairs[0]?.name ?? ''))),
    element('p', { class: 'fw-headline' }, summary(pairs)),
    element('h3', {}, 'What differs around them'),
    differs.length ? element('ul', { class: 'fw-differs' }, ...differs.map((each) => element('li', {}, each)))
      : element('p', {}, 'Nothing that is recorded: the same versions, devices and settings.'),
    element('table', {}, element('caption', {}, count(pairs.length, 'measurement')),
      element('thead', {}, element('tr', {}, ...['Code', 'Before', 'After', 'Change'].map((head) => element('th', { scope: 'col' }, head)))),
      element('tbody', {}, ...sorted.map((pair) => element('tr', {},
        element('th', { scope: 'row' }, element('code', {}, line(pair.name)), pair.edited && element('span', { class: 'fw-small' }, ' edited')),
        side(pair.before), side(pair.after),
        element('td', {}, changed(pair.change, 'after against before')))))),
    only(`Only in ${first}`, lost), only(`Only in ${second}`, gained),
  ].filter((node) => node !== null);
}

/** @param {any} told @returns {HTMLElement} */
function side(told) {
  return element('td', { class: 'fw-nowrap' },
    told.id ? element('a', { href: addressOf({ id: told.id }) }, told.figure) : told.figure, ' ', verdict(told.verdict ?? ''));
}

/** @param {import('./api.js').Pair[]} pairs @returns {Node | string} */
function summary(pairs) {
  const slower = pairs.filter(({ change }) => change?.verdict === 'SLOWER').length;
  const faster = pairs.filter(({ change }) => change?.verdict === 'FASTER').length;
  if (pairs.length === 1) return changed(pairs[0].change, 'after against before') ?? '';
  if (!slower && !faster) return `No clear change in ${count(pairs.length, 'measurement')}.`;
  const words = [slower && `${slower} slower`, faster && `${faster} faster`].filter(Boolean).join(', ');
  return verdict(slower ? 'SLOWER' : 'FASTER', `${words} of ${count(pairs.length, 'measurement')}`);
}

/** Names, with their folders where the names are equal. @param {string} a @param {string} b */
function shortest(a, b) {
  return basename(a) === basename(b) ? [a, b] : [basename(a), basename(b)];
}

/** @param {string} title @param {string[]} names @returns {Node | null} */
function only(title, names) {
  if (!names.length) return null;
  return element('section', {}, element('h3', {}, title),
    element('ul', {}, ...names.map((name) => element('li', {}, element('code', {}, line(name))))));
}

/** @param {string} before @param {string} after @param {string[]} notebooks */
function form(before, after, notebooks) {
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ value) => element('label', {},
    element('span', {}, label),
    element('input', { name, value: value.endsWith('.ipynb') ? value : '', list: 'notebooks', required: true, placeholder: 'folder/run.ipynb', pattern: '.*\\.ipynb' }));
  return element('form', { class: 'fw-filters fw-ask', method: 'get', action: location.pathname },
    element('input', { type: 'hidden', name: 'view', value: 'compare' }),
    field('before', 'Notebook before', before), field('after', 'Notebook after', after),
    element('datalist', { id: 'notebooks' }, ...notebooks.map((value) => element('option', { value }))),
    element('button', { type: 'submit' }, 'Compare notebooks'));
}

function help() {
  return element('p', { class: 'fw-message' },
    'Two saved notebooks are compared by what their outputs keep, as python -m ipyjaxbench diff does. ',
    'Paths begin where Jupyter does. To compare two measurements, choose them in the list of measurements.');
}
