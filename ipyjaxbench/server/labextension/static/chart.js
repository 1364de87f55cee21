/** Runs of one code over time, with what changed around them. */

import { addressOf } from './address.js';
import { element, shape } from './element.js';
import { moment, revision } from './format.js';
import { durations, moments } from './scale.js';

const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM] = [900, 300, 64, 12, 26, 28];
const WHISKERS = 200; // runs up to which intervals are drawn
const [LEAST, MOST, FAR] = [1e-12, 1e9, 50]; // seconds, and times the median: files may tell anything

/** Draw runs, the oldest first; null where there is nothing to see. @param {Measured[]} runs */
export function timeChart(runs) {
  const shown = runs.filter(({ median }) => median > LEAST && median < MOST);
  if (shown.length < 2) return null;
  const few = shown.length <= WHISKERS;
  const ends = (/** @type {Measured} */ { median, low, high }) => [Math.max(low ?? 0, median / FAR), Math.min(high ?? Infinity, median * FAR)];
  const all = shown.flatMap((each) => (few && each.high !== null ? ends(each) : [each.median]));
  const y = durations(Math.min(...all), Math.max(...all), HIGH - BOTTOM, TOP);
  const x = moments(shown[0].when, shown[shown.length - 1].when, LEFT, WIDE - RIGHT);
  const changes = changesOf(shown);
  return element('figure', {},
    shape('svg', {
      class: 'fw-chart', viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img',
      'aria-label': `Time of a call in ${shown.length} runs; they are in the table below`,
    },
    label(LEFT - 8, 12, y.unit, 'end'),
    ...y.ticks.flatMap(({ at, text }) => [
      rule('fw-grid', LEFT, y.place(at), WIDE - RIGHT, y.place(at)),
      label(LEFT - 8, y.place(at) + 4, text, 'end'),
    ]),
    rule('fw-tick', LEFT, HIGH - BOTTOM, WIDE - RIGHT, HIGH - BOTTOM),
    ...x.ticks.flatMap(({ at, text }) => [
      rule('fw-tick', x.place(at), HIGH - BOTTOM, x.place(at), HIGH - BOTTOM + 5),
      label(x.place(at), HIGH - 8, text),
    ]),
    ...changes.flatMap(({ when }, i) => [
      rule('fw-mark', x.place(when), TOP - 8, x.place(when), HIGH - BOTTOM),
      label(x.place(when), TOP - 12, i + 1),
    ]),
    shape('polyline', { class: 'fw-line', points: shown.map((each) => [x.place(each.when), y.place(each.median)]).join(' ') }),
    ...shown.filter(({ high }) => few && high !== null).map((each) => {
      const [low, high] = ends(each).map(y.place);
      return rule('fw-whisker', x.place(each.when), low, x.place(each.when), high);
    }),
    // The table below has the same links for the keyboard.
    ...shown.map((each) => shape('a', { href: addressOf({ id: each.id }), tabindex: -1 },
      shape('circle', { class: each.change?.verdict === 'SLOWER' ? 'fw-slower' : 'fw-point', cx: x.place(each.when), cy: y.place(each.median), r: few ? 3.5 : 2 },
        shape('title', {}, `${moment(each.when)}: ${each.figure}, ${each.change?.words ?? 'first run'}`))))),
    element('figcaption', {}, 'Red: slower than the run before.',
      changes.length > 0 && element('ol', { 'aria-label': 'What changed around the runs' },
        ...changes.map(({ when, words }) => element('li', {}, `${moment(when)}: ${words}`)))));
}

/** @param {number} x @param {number} y @param {string | number} told @param {string} [anchor] */
const label = (x, y, told, anchor = 'middle') => shape('text', { x, y, 'text-anchor': anchor }, told);

/** @type {(style: string, x1: number, y1: number, x2: number, y2: number) => Node} */
const rule = (style, x1, y1, x2, y2) => shape('line', { class: style, x1, y1, x2, y2 });

/** Where versions, devices or the revision are not those of the run before. @param {Measured[]} runs */
function changesOf(runs) {
  /** @type {Query[]} */
  const around = runs.map(({ frameworks, python, devices, revision: git }) => ({
    ...frameworks, Python: python, device: devices.join(', '), git: revision(git),
  }));
  return runs.map(({ when }, i) => {
    const [before, now] = [around[Math.max(i - 1, 0)], around[i]];
    const names = Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
    return { when, words: names.map((name) => `${name} ${before[name] || 'none'} → ${now[name] || 'none'}`).join(', ') };
  }).filter(({ words }) => words);
}
