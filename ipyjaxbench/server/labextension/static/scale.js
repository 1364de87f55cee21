/** Axes: where values lie, and where ticks stand. */

import { duration, moment, unitOf } from './format.js';

const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
  DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 180 * DAY, 365 * DAY];
const TICKS = 8; // at most
const DECADE = 8; // the ratio of the ends from which on an axis is logarithmic
const EDGE = 0.06; // of the range, left free at both ends

/** Multiples of a step. @param {number} first @param {number} last @param {number} step */
function multiples(first, last, step) {
  const from = Math.ceil(first / step);
  return Array.from({ length: Math.max(Math.floor(last / step) - from + 1, 0) }, (_, i) => (from + i) * step);
}

/**
 * An axis of seconds per call; one from 0 would hide changes.
 * @param {number} low @param {number} high @param {number} from place of the low end @param {number} to
 * @returns {Scale}
 */
export function durations(low, high, from, to) {
  const logarithmic = high / low >= DECADE;
  const scaled = logarithmic ? Math.log10 : Number;
  const free = Math.max((scaled(high) - scaled(low)) * EDGE, logarithmic ? 0 : low * 0.02);
  const [first, last] = [scaled(low) - free, scaled(high) + free];
  const place = (/** @type {number} */ value) => from + ((scaled(value) - first) / (last - first)) * (to - from);
  if (logarithmic) {
    const parts = last - first > 1.5 ? [1] : [1, 2, 5];
    const powers = multiples(Math.floor(first), last, 1);
    const values = powers.flatMap((power) => parts.map((part) => part * 10 ** power));
    const inside = values.filter((at) => scaled(at) >= first && scaled(at) <= last);
    return { place, unit: '', ticks: inside.map((at) => ({ at, text: duration(at, 1) })) };
  }
  const power = 10 ** Math.floor(Math.log10((last - first) / 5));
  const step = power * ([1, 2, 5].find((part) => part * power >= (last - first) / 5) ?? 10);
  const [size, unit] = unitOf(last);
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  return { place, unit, ticks: multiples(first, last, step).map((at) => ({ at, text: (at / size).toFixed(decimals) })) };
}

/**
 * An axis of moments, in the time of the reader.
 * @param {number} low seconds since 1970 @param {number} high @param {number} from @param {number} to
 * @returns {Scale}
 */
export function moments(low, high, from, to) {
  const free = Math.max((high - low) * EDGE, 1);
  const [first, last] = [low - free, high + free];
  const step = STEPS.find((each) => (last - first) / each <= TICKS) ?? (last - first) / TICKS;
  const off = new Date(first * 1000).getTimezoneOffset() * MINUTE; // so that days begin at midnight
  const ticks = multiples(first - off, last - off, step).map((local) => {
    const [day, time] = moment(local + off).split(' ');
    return { at: local + off, text: step < DAY && time !== '00:00' ? time : day };
  });
  return { place: (value) => from + ((value - first) / (last - first)) * (to - from), ticks, unit: '' };
}
