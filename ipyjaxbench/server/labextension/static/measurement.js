/** The view of one measurement: all that is known of it. */

import { link } from './address.js';
import { code, element, terms } from './element.js';
import { factsOf } from './facts.js';
import { count, line } from './format.js';
import { changed, verdict } from './verdict.js';

/** @param {Api} api @param {string} id */
export async function showMeasurement(api, id) {
  const it = await api.measurement(id);
  const samples = count(it.samples.length, 'sample');
  const isPicture = it.picture.startsWith('data:image/');
  return {
    title: line(it.name),
    node: element('article', {},
      element('h2', {}, code(it.name)),
      element('p', { class: 'fw-headline' }, element('strong', {}, it.figure), ' ', verdict(it.verdict), ' ', changed(it.change)),
      element('p', {}, link({ series: it.series }, 'All runs of this code')),
      element('pre', { tabindex: 0 }, element('code', {}, it.code)),
      terms([
        ['samples', isPicture ? element('img', { src: it.picture, alt: `distribution of ${samples}` }) : samples],
        ...factsOf(it),
        ['data', Object.entries(it.data).map((each) => each.join(' ')).join(', ')],
        ['machine', [it.cpu, count(it.cpus, 'CPU'), ...it.gpus].filter(Boolean).join(', ')],
        ['notebook', it.notebook && link({ notebook: it.notebook }, it.notebook)],
        ['directory', it.directory],
      ])),
  };
}
