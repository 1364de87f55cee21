/** The view of two measurements or notebooks; what differs around them comes first. */

import { link } from './address.js';
import { code, element, table } from './element.js';
import { field } from './filters.js';
import { basename, count, line } from './format.js';
import { changed, verdict } from './verdict.js';

const ORDER = ['SLOWER', 'FASTER', "CAN'T TELL", 'SAME'];
const SAVED = '.ipynb';
const AGAINST = 'medians, after against before';

/** @param {Api} api @param {URLSearchParams} query */
export async function showComparison(api, query) {
  const [before, after] = ['before', 'after'].map((name) => query.get(name) ?? '');
  const { names } = await api.history({ limit: '1' });
  const content = before && after ? await api.compare(before, after).then(answer, refusal) : refusal({ message: '' });
  return { title: 'Compare', node: element('article', {}, ...content, form({ before, after }, names.notebooks)) };
}

/** @param {{message: string}} error */
const refusal = ({ message }) => [element('h2', {}, 'Compare'), element('p', { role: 'alert' }, message)];

/** @param {Comparison} comparison */
function answer({ before, after, differs, pairs, only_before: lost, only_after: gained }) {
  const short = basename(before) === basename(after) ? line : basename;
  const order = (/** @type {Pair} */ { change }) => ORDER.indexOf(change?.verdict ?? '') + 1 || ORDER.length + 1;
  return [
    element('h2', {}, before.endsWith(SAVED) ? `${short(before)} → ${short(after)}` : code(pairs[0].name)),
    element('p', { class: 'fw-headline' }, summary(pairs)),
    list('What differs around them', differs.length ? differs : ['nothing that is recorded']),
    table(['Code', 'Before', 'After', 'Change'], [...pairs].sort((a, b) => order(a) - order(b)).map((pair) => element('tr', {},
      element('th', { scope: 'row' }, code(pair.name)),
      side(pair.before), side(pair.after), element('td', {}, changed(pair.change, AGAINST)))), count(pairs.length, 'measurement')),
    list(`Only in ${short(before)}`, lost), list(`Only in ${short(after)}`, gained),
  ];
}

/** @param {Measured} measured */
function side({ id, figure, verdict: word }) {
  return element('td', {}, id ? link({ id }, figure) : figure, ' ', verdict(word));
}

/** @param {Pair[]} pairs */
function summary(pairs) {
  if (pairs.length === 1) return changed(pairs[0].change, AGAINST);
  const all = count(pairs.length, 'measurement');
  const [slower, faster] = ORDER.map((word) => pairs.filter(({ change }) => change?.verdict === word).length);
  if (!slower && !faster) return `No clear change in ${all}.`;
  const words = [slower && `${slower} slower`, faster && `${faster} faster`].filter(Boolean).join(', ');
  return verdict(slower ? 'SLOWER' : 'FASTER', `${words} of ${all}`);
}

/** @param {string} title @param {string[]} items */
function list(title, items) {
  return items.length > 0 && element('section', {}, element('h3', {}, title), element('ul', {}, ...items.map((item) => element('li', {}, line(item)))));
}

/** @param {Query} asked @param {string[]} notebooks */
function form(asked, notebooks) {
  const path = (/** @type {string} */ name) => field(name, element('input', {
    name, value: asked[name].endsWith(SAVED) && asked[name], list: 'notebooks', required: true, placeholder: `folder/run${SAVED}`, pattern: '.*\\.ipynb',
  }));
  return element('section', { class: 'fw-ask' }, element('h3', {}, 'Two saved notebooks'),
    element('form', { class: 'fw-filters', action: location.pathname },
      element('input', { type: 'hidden', name: 'view', value: 'compare' }), path('before'), path('after'),
      element('datalist', { id: 'notebooks' }, ...notebooks.map((value) => element('option', { value }))),
      element('button', {}, 'Compare')),
    element('p', { class: 'fw-small' }, 'Paths begin where Jupyter does. Measurements are chosen in lists.'));
}
