/** The view of a comparison: two measurements or two saved notebooks, what differs around them first. */

import { addressOf } from './address.js';
import { element, table } from './element.js';
import { basename, count, line } from './format.js';
import { changed, verdict } from './verdict.js';

const ORDER = ['SLOWER', 'FASTER', "CAN'T TELL", 'SAME'];
const AGAINST = 'after against before';

/** @param {Api} api @param {URLSearchParams} query */
export async function showComparison(api, query) {
  const [before, after] = ['before', 'after'].map((name) => query.get(name) ?? '');
  const { names } = await api.history({ limit: '1' });
  const told = before && after ? answer(await api.compare(before, after)) : [element('h2', {}, 'Compare')];
  return { title: 'Compare', node: element('article', {}, ...told, form(before, after, names.notebooks)) };
}

/** @param {Comparison} told */
function answer({ before, after, differs, pairs, only_before: lost, only_after: gained }) {
  const notebooks = before.endsWith('.ipynb');
  const short = basename(before) === basename(after) ? line : basename;
  const title = notebooks ? `${short(before)} → ${short(after)}` : element('code', {}, line(pairs[0].name));
  const order = (/** @type {Pair} */ { change }) => ORDER.indexOf(change?.verdict ?? '') + 1 || ORDER.length + 1;
  return [
    element('h2', {}, title),
    element('p', { class: 'fw-headline' }, summary(pairs)),
    list('What differs around them', differs.length ? differs : ['nothing that is recorded: versions, devices and settings are the same']),
    table(['Code', 'Before', 'After', 'Change'], [...pairs].sort((a, b) => order(a) - order(b)).map((pair) => element('tr', {},
      element('th', { scope: 'row' }, element('code', {}, line(pair.name)), pair.edited && element('span', { class: 'fw-small' }, ' edited')),
      side(pair.before), side(pair.after), element('td', {}, changed(pair.change, AGAINST)))), count(pairs.length, 'measurement')),
    lost.length > 0 && list(`Only in ${short(before)}`, lost), gained.length > 0 && list(`Only in ${short(after)}`, gained),
  ];
}

/** @param {Measured} told */
function side({ id, figure, verdict: word }) {
  return element('td', {}, id ? element('a', { href: addressOf({ id }) }, figure) : figure, ' ', verdict(word));
}

/** @param {Pair[]} pairs */
function summary(pairs) {
  if (pairs.length === 1) return changed(pairs[0].change, AGAINST);
  const [slower, faster] = ORDER.map((word) => pairs.filter(({ change }) => change?.verdict === word).length);
  if (!slower && !faster) return `No clear change in ${count(pairs.length, 'measurement')}.`;
  const words = [slower && `${slower} slower`, faster && `${faster} faster`].filter(Boolean).join(', ');
  return verdict(slower ? 'SLOWER' : 'FASTER', `${words} of ${count(pairs.length, 'measurement')}`);
}

/** @param {string} title @param {string[]} items */
function list(title, items) {
  return element('section', {}, element('h3', {}, title), element('ul', {}, ...items.map((item) => element('li', {}, line(item)))));
}

/** @param {string} before @param {string} after @param {string[]} notebooks */
function form(before, after, notebooks) {
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ value) => element('label', {}, element('span', {}, label),
    element('input', { name, value: value.endsWith('.ipynb') ? value : '', list: 'notebooks', required: true, placeholder: 'folder/run.ipynb', pattern: '.*\\.ipynb' }));
  return element('section', { class: 'fw-ask' }, element('h3', {}, 'Two saved notebooks'),
    element('form', { class: 'fw-filters', action: location.pathname },
      element('input', { type: 'hidden', name: 'view', value: 'compare' }), field('before', 'Before', before), field('after', 'After', after),
      element('datalist', { id: 'notebooks' }, ...notebooks.map((value) => element('option', { value }))),
      element('button', {}, 'Compare')),
    element('p', { class: 'fw-small' }, 'By what their outputs keep, as python -m ipyjaxbench diff does; paths begin where Jupyter does. ',
      'To compare two measurements, choose them in a list of measurements.'));
}
