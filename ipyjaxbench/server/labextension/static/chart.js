/** Runs of one code over time, with what changed around them. */

import { addressOf } from './address.js';
import { element, shape } from './element.js';
import { moment, revision } from './format.js';
import { durations, moments } from './scale.js';

const [WIDE, HIGH] = [900, 300];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 888, 26, 272]; // edges of the plot
const WHISKERS = 200; // runs up to which intervals are drawn
const [LEAST, FAR] = [1e-12, 50]; // seconds, and times the median: files may say anything

/** Draw runs, the oldest first; null where there is nothing to see. @param {Measured[]} runs */
export function timeChart(runs) {
  const shown = runs.filter(({ median }) => median > LEAST);
  if (shown.length < 2) return null;
  const few = shown.length <= WHISKERS;
  const ends = (/** @type {Measured} */ { median, low, high }) => [Math.max(low ?? 0, median / FAR), Math.min(high ?? Infinity, median * FAR)];
  const all = shown.flatMap((each) => (few && each.high !== null ? ends(each) : [each.median]));
  const y = durations(Math.min(...all), Math.max(...all), BOTTOM, TOP);
  const x = moments(shown[0].when, shown[shown.length - 1].when, LEFT, RIGHT);
  const places = shown.map(({ when, median }) => [x.place(when), y.place(median)]);
  const changes = changesOf(shown);
  return element('figure', {},
    shape('svg', {
      class: 'fw-chart', viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img',
      'aria-label': `Time of a call in ${shown.length} runs; they are in the table below`,
    },
    label(LEFT - 8, 12, y.unit, 'end'),
    ...y.ticks.flatMap(({ at, text }) => [
      rule('fw-grid', LEFT, y.place(at), RIGHT, y.place(at)),
      label(LEFT - 8, y.place(at) + 4, text, 'end'),
    ]),
    rule('fw-tick', LEFT, BOTTOM, RIGHT, BOTTOM),
    ...x.ticks.flatMap(({ at, text }) => [
      rule('fw-tick', x.place(at), BOTTOM, x.place(at), BOTTOM + 5),
      label(x.place(at), HIGH - 8, text),
    ]),
    ...changes.flatMap(({ when }, i) => [
      rule('fw-mark', x.place(when), TOP - 8, x.place(when), BOTTOM),
      label(x.place(when), TOP - 12, i + 1),
    ]),
    shape('polyline', { class: 'fw-line', points: places.join(' ') }),
    ...shown.map((each, i) => {
      const [low, high] = ends(each).map(y.place);
      return few && each.high !== null && rule('fw-whisker', places[i][0], low, places[i][0], high);
    }),
    // The table below has the same links for the keyboard.
    ...shown.map(({ id, when, change, figure }, i) => shape('a', { href: addressOf({ id }), tabindex: -1 },
      shape('circle', { class: change?.verdict === 'SLOWER' ? 'fw-slower' : 'fw-point', cx: places[i][0], cy: places[i][1], r: few ? 3.5 : 2 },
        shape('title', {}, `${moment(when)}: ${figure}, ${change?.words ?? 'first run'}`))))),
    element('figcaption', {}, 'Medians. Red: slower than the run before.',
      changes.length > 0 && element('ol', { 'aria-label': 'What changed around the runs' },
        ...changes.map(({ when, words }) => element('li', {}, `${moment(when)}: ${words}`)))));
}

/** @param {number} x @param {number} y @param {string | number} text @param {string} [anchor] */
const label = (x, y, text, anchor = 'middle') => shape('text', { x, y, 'text-anchor': anchor }, text);

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
