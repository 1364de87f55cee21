/** A table of measurements, in which two can be chosen to be compared. */

import { addressOf, link } from './address.js';
import { code, element, refill, table } from './element.js';
import { basename, line, moment, revision, versions } from './format.js';
import { sparkline } from './sparkline.js';
import { changed, verdict } from './verdict.js';

const ASKED = ['Choose two to compare them', 'Choose another one to compare', 'Compare the two chosen'];

/** When what is chosen was measured, by its id. @type {Map<string, number>} */
const chosen = new Map();

/** @param {Measured[]} measured @param {string} caption @param {boolean} [ofOne] runs of one code */
export function measuredTable(measured, caption, ofOne = false) {
  const compare = element('a');
  const boxes = measured.map((it) => element('input', {
    type: 'checkbox', 'aria-label': `Compare ${line(it.name)} of ${moment(it.when)}`,
    change: ({ target }) => {
      chosen.delete(it.id);
      if (target.checked && chosen.size === 2) chosen.delete([...chosen.keys()][0]); // the first choice
      if (target.checked) chosen.set(it.id, it.when);
      draw();
    },
  }));
  const draw = () => {
    boxes.forEach((box, i) => { box.checked = chosen.has(measured[i].id); });
    const [before, after] = [...chosen.keys()].sort((a, b) => Number(chosen.get(a)) - Number(chosen.get(b)));
    compare.removeAttribute('href');
    if (after) compare.href = addressOf({ view: 'compare', before, after });
    refill(compare, ASKED[chosen.size]);
  };
  draw();
  const heads = ['', 'Code', 'Time per call', 'Since the run before', ofOne ? 'Around it' : 'Trend', 'Measured'];
  if (ofOne) heads.splice(1, 1);
  return element('div', {}, element('p', { class: 'fw-choice', role: 'status' }, compare),
    table(heads, measured.map((it, i) => row(it, boxes[i], ofOne)), caption));
}

/** @param {Measured} it @param {HTMLElement} box @param {boolean} ofOne */
function row(it, box, ofOne) {
  const facts = [basename(it.notebook), it.devices.join(', '), versions(it.frameworks, ''), it.revision && `git ${revision(it.revision)}`];
  const around = element('div', { class: 'fw-small' }, line(facts.filter(Boolean).join(' · ')));
  return element('tr', {}, element('td', {}, box),
    !ofOne && element('th', { scope: 'row' }, link({ series: it.series }, code(it.name)), around),
    element('td', { class: 'fw-figure' }, element('strong', {}, it.figure), ' ', verdict(it.verdict)),
    element('td', {}, changed(it.change)),
    element('td', {}, ofOne ? around : sparkline(it.trend)),
    element('td', {}, link({ id: it.id }, moment(it.when))));
}
