/** The view of one code: its runs over time. */

import { timeChart } from './chart.js';
import { element } from './element.js';
import { count, line } from './format.js';
import { measuredTable } from './table.js';

const MOST = 1000; // runs

/** @param {import('./api.js').Api} api @param {string} series @returns {Promise<{title: string, node: Node}>} */
export async function showCode(api, series) {
  const { measured, found } = await api.history({ series, sort: 'newest', limit: String(MOST) });
  if (!measured.length) throw new Error('Nothing is kept of this code any more.');
  const [newest] = measured;
  const name = line(newest.name);
  const caption = found > MOST ? `the last ${count(MOST, 'run')} of ${found.toLocaleString('en')}` : count(found, 'run');
  return {
    title: name,
    node: element('article', {}, element('h2', {}, element('code', {}, name)),
      newest.line !== newest.name && element('p', { class: 'fw-small' }, element('code', {}, line(newest.line))),
      timeChart([...measured].reverse()) ?? element('p', { class: 'fw-message' }, 'One run so far: a chart needs two.'),
      measuredTable(measured, caption, true)),
  };
}
