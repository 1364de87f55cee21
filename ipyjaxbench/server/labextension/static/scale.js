/** Axes: where values lie, and where ticks stand. */

import { duration, number, unitOf } from './format.js';

/** @typedef {{at: number, text: string}} Tick */
/** @typedef {{place: (value: number) => number, ticks: Tick[], unit: string}} Scale */

const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
const STEPS = [1, 5, 10, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY];
const DECADE = 8; // the ratio of the ends from which on the axis is logarithmic
const EDGE = 0.08; // of the range, left free at both ends

/**
 * An axis of seconds per call: from 0 would hide changes, so it begins below the lowest.
 * @param {number} low @param {number} high @param {number} from place of the low end @param {number} to
 * @returns {Scale}
 */
export function durations(low, high, from, to) {
  if (high / low >= DECADE) return logarithmic(low, high, from, to);
  const free = Math.max((high - low) * EDGE, low * 0.02);
  const [first, last] = [Math.max(low - free, 0), high + free];
  const step = niceStep((last - first) / 5);
  const [size, unit] = unitOf(last);
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const ticks = [];
  for (let i = Math.ceil(first / step); i * step <= last; i++) ticks.push({ at: i * step, text: (i * step / size).toFixed(decimals) });
  return { place: (value) => from + ((value - first) / (last - first)) * (to - from), ticks, unit };
}

/** @param {number} low @param {number} high @param {number} from @param {number} to @returns {Scale} */
function logarithmic(low, high, from, to) {
  const [first, last] = [Math.log10(low) - 0.08, Math.log10(high) + 0.08];
  const parts = last - first > 3 ? [1] : last - first > 1.5 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(first); power <= last; power++) {
    for (const part of parts) {
      const at = part * 10 ** power;
      if (Math.log10(at) >= first && Math.log10(at) <= last) ticks.push({ at, text: duration(at, 1) });
    }
  }
  return { place: (value) => from + ((Math.log10(value) - first) / (last - first)) * (to - from), ticks, unit: 'logarithmic' };
}

/** @param {number} least @returns {number} 1, 2 or 5 times a power of ten */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((part) => part * power >= least) ?? 10) * power;
}

/**
 * An axis of moments, in the time of the reader.
 * @param {number} low seconds since 1970 @param {number} high @param {number} from @param {number} to
 * @param {number} most ticks
 * @returns {Scale}
 */
export function moments(low, high, from, to, most) {
  const free = Math.max((high - low) * 0.03, 1);
  const [first, last] = [low - free, high + free];
  const place = (/** @type {number} */ value) => from + ((value - first) / (last - first)) * (to - from);
  const step = STEPS.find((each) => (last - first) / each <= most);
  return { place, ticks: step ? clock(first, last, step) : months(first, last, most), unit: '' };
}

/** @param {number} first @param {number} last @param {number} step @returns {Tick[]} */
function clock(first, last, step) {
  const start = new Date(first * 1000);
  start.setHours(0, 0, 0, 0);
  const ticks = [];
  const days = Math.max(Math.round(step / DAY), 1);
  for (const day = start; day.getTime() / 1000 <= last; day.setDate(day.getDate() + days)) { // days of 23 and 25 hours, too
    const midnight = day.getTime() / 1000;
    for (let at = midnight; at < midnight + DAY && at <= last; at += step) {
      if (at >= first) ticks.push({ at, text: label(at, step) });
    }
  }
  return ticks;
}

/** @param {number} at @param {number} step @returns {string} */
function label(at, step) {
  const date = new Date(at * 1000);
  const day = date.toLocaleDateString('en', { month: 'short', day: 'numeric' });
  if (step >= DAY || (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0)) return day;
  return date.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(step < MINUTE && { second: '2-digit' }) });
}

/** @param {number} first @param {number} last @param {number} most @returns {Tick[]} */
function months(first, last, most) {
  const start = new Date(first * 1000);
  const all = (last - first) / (30 * DAY);
  const step = [1, 3, 6, 12].find((each) => all / each <= most) ?? 12 * Math.ceil(all / 12 / most);
  const ticks = [];
  for (let month = 0; ; month += step) {
    const date = new Date(start.getFullYear(), month, 1);
    const at = date.getTime() / 1000;
    if (at > last) return ticks;
    const text = date.toLocaleDateString('en', { month: 'short', year: 'numeric' });
    if (at >= first) ticks.push({ at, text: step % 12 ? text : number(date.getFullYear(), 4) });
  }
}
