/** The view of one measurement: all that is known of it. */

import { element, terms } from './element.js';
import { count, line, moment, revision, span, versions } from './format.js';
import { phaseBar } from './phases.js';
import { addressOf } from './table.js';
import { changed, verdict } from './verdict.js';

/** @param {import('./api.js').Api} api @param {string} id @returns {Promise<{title: string, node: Node}>} */
export async function showMeasurement(api, id) {
  const it = await api.measurement(id);
  const name = line(it.name);
  const whole = it.low !== null && it.high !== null;
  const picture = it.picture.startsWith('data:image/');
  return {
    title: name,
    node: element('article', {},
      element('h2', {}, element('code', {}, name)),
      element('p', { class: 'fw-headline' }, element('strong', {}, it.figure), ' ', verdict(it.verdict), ' ',
        changed(it.change, 'against the run before')),
      element('p', {}, element('a', { href: addressOf({ series: it.series }) }, 'All runs of this code')),
      element('pre', { tabindex: 0 }, element('code', {}, it.code)),
      terms([
        ['measured', `${moment(it.when)} by %${it.magic === 'fwcompare' ? '%' : ''}${it.magic}`],
        ['range', whole ? span(Number(it.low), Number(it.high)) : ''],
        ['samples', picture ? element('span', {}, element('img', { src: it.picture, alt: `distribution of ${count(it.samples.length, 'sample')}` })) : count(it.samples.length, 'sample')],
        ['first call', phaseBar(it.first_call)],
        ['clock', it.clock === 'elapsed' ? '' : it.clock],
        ['data', Object.entries(it.data).map(([key, value]) => `${key} ${value}`).join(', ')],
        ['versions', versions(it.frameworks, it.python)],
        ['device', it.devices.join(', ')],
        ['machine', [`${it.cpu}, ${count(it.cpus, 'CPU')}`, ...it.gpus].join(', ')],
        ['git', revision(it.revision)],
        ['notebook', it.notebook && element('a', { href: `${location.pathname}?${new URLSearchParams({ notebook: it.notebook })}` }, it.notebook)],
        ['directory', it.directory],
      ])),
  };
}
