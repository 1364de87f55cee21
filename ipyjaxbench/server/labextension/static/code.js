/** The view of one code: its runs over time. */

import { timeChart } from './chart.js';
import { code, element } from './element.js';
import { count, line } from './format.js';
import { measuredTable } from './table.js';

const MOST = 1000; // runs

/** @param {Api} api @param {string} series */
export async function showCode(api, series) {
  const { measured, found } = await api.history({ series, sort: 'newest', limit: String(MOST) });
  if (!measured.length) throw new Error('Nothing is kept of this code any more.');
  const name = line(measured[0].name);
  return {
    title: name,
    node: element('article', {}, element('h2', {}, code(name)),
      timeChart([...measured].reverse()) ?? element('p', {}, 'A chart needs two runs.'),
      measuredTable(measured, `${found > MOST ? `the last ${MOST} of ` : ''}${count(found, 'run')}`, true)),
  };
}
