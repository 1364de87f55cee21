/** Runs of one code over time, with what changed around them. */

import { element, shape } from './element.js';
import { moment, revision } from './format.js';
import { durations, moments } from './scale.js';
import { addressOf } from './table.js';

/** @typedef {import('./api.js').Measured} Measured */

const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM] = [900, 300, 64, 12, 26, 28];
const WHISKERS = 200; // runs up to which intervals are drawn
const [LEAST, MOST] = [1e-12, 1e12]; // seconds that an axis reaches: files may tell anything

/**
 * Draw runs, the oldest first.
 * @param {Measured[]} runs @returns {HTMLElement | null} null where there is nothing to see
 */
export function timeChart(runs) {
  const shown = runs.filter(({ median }) => median > LEAST && median < MOST);
  if (shown.length < 2) return null;
  const within = (/** @type {number | null} */ value) => value !== null && value > LEAST && value < MOST;
  const middle = shown.map(({ median }) => median).sort((a, b) => a - b)[shown.length >> 1];
  // An interval that is endless would flatten all others.
  const ends = shown.flatMap(({ low, high, median }) => [low, median, high]
    .filter((value) => within(value) && /** @type {number} */ (value) < 50 * middle && /** @type {number} */ (value) > middle / 50 || value === median)).map(Number);
  const y = durations(Math.min(...ends), Math.max(...ends), HIGH - BOTTOM, TOP);
  const x = moments(shown[0].when, shown[shown.length - 1].when, LEFT, WIDE - RIGHT, 8);
  const clip = (/** @type {number} */ place) => Math.min(Math.max(place, TOP), HIGH - BOTTOM);
  const changes = changesOf(shown);
  const points = shown.map((each) => [x.place(each.when), y.place(each.median)].map((place) => place.toFixed(1)));
  const svg = shape('svg', {
    class: 'fw-chart', viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'group',
    'aria-label': `Time of a call over time; the table below has the ${shown.length} runs`,
  },
  ...y.ticks.flatMap(({ at, text }) => [
    shape('line', { class: 'fw-grid', x1: LEFT, x2: WIDE - RIGHT, y1: y.place(at), y2: y.place(at) }),
    shape('text', { x: LEFT - 8, y: y.place(at) + 4, 'text-anchor': 'end' }, text),
  ]),
  shape('text', { x: LEFT - 8, y: 12, 'text-anchor': y.unit.length > 2 ? 'start' : 'end' }, y.unit),
  ...x.ticks.flatMap(({ at, text }) => [
    shape('line', { class: 'fw-tick', x1: x.place(at), x2: x.place(at), y1: HIGH - BOTTOM, y2: HIGH - BOTTOM + 5 }),
    shape('text', { x: x.place(at), y: HIGH - 8, 'text-anchor': 'middle' }, text),
  ]),
  shape('line', { class: 'fw-tick', x1: LEFT, x2: WIDE - RIGHT, y1: HIGH - BOTTOM, y2: HIGH - BOTTOM }),
  ...changes.map(({ when, number }) => mark(x.place(when), number)),
  shape('polyline', { class: 'fw-line', points: points.map((point) => point.join()).join(' ') }),
  ...(shown.length > WHISKERS ? [] : shown).map(({ when, low, high }) => within(low) && within(high) && shape('line', {
    class: 'fw-whisker', x1: x.place(when), x2: x.place(when), y1: clip(y.place(Number(low))), y2: clip(y.place(Number(high))),
  })),
  ...shown.map((each, i) => shape('a', { href: addressOf({ id: each.id }), tabindex: -1, 'aria-hidden': 'true' },
    shape('circle', { class: `fw-point fw-${each.change?.verdict === 'SLOWER' ? 'slower' : 'usual'}`, cx: points[i][0], cy: points[i][1], r: shown.length > WHISKERS ? 2 : 3.5 },
      shape('title', {}, `${moment(each.when)}: ${each.figure}${each.change ? `, ${each.change.words}` : ''}`)))));
  return element('figure', {}, svg, element('figcaption', {},
    changes.length > 0 && element('ol', { class: 'fw-changes', 'aria-label': 'What changed around the runs' },
      ...changes.map(({ number, when, words }) => element('li', { value: number }, `${moment(when)}: ${words.join(', ')}`)))));
}

/** @param {number} place @param {number} number @returns {SVGElement} */
function mark(place, number) {
  return shape('g', { class: 'fw-mark' },
    shape('line', { x1: place, x2: place, y1: TOP - 8, y2: HIGH - BOTTOM }),
    shape('text', { x: place, y: TOP - 12, 'text-anchor': 'middle' }, number));
}

/**
 * Where versions, devices or the revision are not those of the run before.
 * @param {Measured[]} runs @returns {{number: number, when: number, words: string[]}[]}
 */
function changesOf(runs) {
  /** @type {{number: number, when: number, words: string[]}[]} */
  const changes = [];
  runs.slice(1).forEach((now, i) => {
    const words = differences(runs[i], now);
    if (words.length) changes.push({ number: changes.length + 1, when: now.when, words });
  });
  return changes;
}

/** @param {Measured} before @param {Measured} now @returns {string[]} */
function differences(before, now) {
  const old = { ...before.frameworks, Python: before.python };
  const young = { ...now.frameworks, Python: now.python };
  const names = [...new Set([...Object.keys(old), ...Object.keys(young)])];
  /** @type {[string, string, string][]} */
  const facts = [
    ...names.map((name) => /** @type {[string, string, string]} */ ([name, old[name] ?? '', young[name] ?? ''])),
    ['device', before.devices.join(', '), now.devices.join(', ')],
    ['git', revision(before.revision), revision(now.revision)],
  ];
  return facts.filter(([, a, b]) => a !== b).map(([name, a, b]) => `${name} ${a || 'none'} → ${b || 'none'}`);
}

