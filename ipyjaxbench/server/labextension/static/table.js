/** A table of measurements, in which two can be chosen to be compared. */

import { element } from './element.js';
import { basename, line, moment, revision, versions } from './format.js';
import { sparkline } from './sparkline.js';
import { changed, verdict } from './verdict.js';

/** @typedef {import('./api.js').Measured} Measured */

/** What is chosen to be compared, in the order of time; it stays while one moves around. @type {Map<string, Measured>} */
const chosen = new Map();

/**
 * @param {Measured[]} measured @param {string} caption
 * @param {boolean} [ofOne] runs of one code: then the names are not told
 * @returns {HTMLElement}
 */
export function measuredTable(measured, caption, ofOne = false) {
  const compare = element('a', { class: 'fw-compare' });
  const boxes = measured.map((each) => element('input', {
    type: 'checkbox', 'data-id': each.id, 'aria-label': `Compare ${line(each.name)} of ${moment(each.when)}`,
    change: (event) => { choose(each, event.target.checked); draw(); },
  }));
  const draw = () => {
    for (const box of boxes) box.checked = chosen.has(box.dataset.id ?? '');
    const ids = [...chosen.values()].sort((a, b) => a.when - b.when).map(({ id }) => id);
    if (ids.length === 2) compare.href = addressOf({ view: 'compare', before: ids[0], after: ids[1] });
    else compare.removeAttribute('href');
    compare.textContent = ['Choose two to compare them', 'Choose another one to compare', 'Compare the two chosen'][ids.length];
  };
  draw();
  const heads = ofOne ? ['', 'Measured', 'Time of a call', 'Since the run before', 'Around it']
    : ['', 'Code', 'Time of a call', 'Since the run before', 'Trend', 'Measured'];
  return element('div', {}, element('p', { class: 'fw-choice', role: 'status' }, compare),
    element('table', { class: ofOne ? 'fw-runs' : null }, element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
      element('tbody', {}, ...measured.map((each, i) => element('tr', {},
        element('td', {}, boxes[i]), ...(ofOne ? run(each) : code(each)))))));
}

/** @param {Measured} each @returns {Node[]} */
function code(each) {
  return [
    element('th', { scope: 'row' },
      element('a', { href: addressOf({ series: each.series }) }, element('code', {}, line(each.name))),
      element('div', { class: 'fw-small' }, around([basename(each.notebook), ...surroundings(each)]))),
    element('td', { class: 'fw-nowrap' }, element('strong', {}, each.figure), ' ', verdict(each.verdict)),
    element('td', {}, changed(each.change, 'against the run before') ?? 'first run'),
    element('td', {}, sparkline(each.trend)),
    element('td', { class: 'fw-nowrap' }, element('a', { href: addressOf({ id: each.id }) }, moment(each.when))),
  ];
}

/** @param {Measured} each @returns {Node[]} */
function run(each) {
  return [
    element('th', { scope: 'row', class: 'fw-nowrap' }, element('a', { href: addressOf({ id: each.id }) }, moment(each.when))),
    element('td', { class: 'fw-nowrap' }, element('strong', {}, each.figure), ' ', verdict(each.verdict)),
    element('td', {}, changed(each.change, 'against the run before') ?? 'first run'),
    element('td', { class: 'fw-small' }, around([...surroundings(each), basename(each.notebook)])),
  ];
}

/** @param {Measured} each */
function surroundings({ devices, frameworks, revision: commit }) {
  return [devices.join(', '), versions(frameworks), commit && `git ${revision(commit)}`];
}

/** @param {string[]} facts */
const around = (facts) => line(facts.filter(Boolean).join(' · '));

/** @param {Measured} each @param {boolean} wanted */
function choose(each, wanted) {
  chosen.delete(each.id);
  if (!wanted) return;
  if (chosen.size === 2) chosen.delete([...chosen.keys()][0]); // the one that was chosen first
  chosen.set(each.id, each);
}

/**
 * An address of this page.
 * @param {Record<string, string>} query @returns {string}
 */
export const addressOf = (query) => `${location.pathname}?${new URLSearchParams(query)}`;
