/** Axes: where values lie, and where ticks stand. */

import { duration, moment, unitOf } from './format.js';

const [MINUTE, DAY] = [60, 86400];
const STEPS = [1, 5, 15, 60, 180, 360, 720, ...[1, 2, 7, 14, 30, 90, 180, 365].map((days) => days * 1440)]; // minutes
const TICKS = 8; // at most
const DECADE = 8; // the ratio of the ends from which on an axis is logarithmic
const EDGE = 0.06; // of the range, left free at both ends

/** Multiples of a step. @param {number} first @param {number} last @param {number} step */
function multiples(first, last, step) {
  const from = Math.ceil(first / step);
  return Array.from({ length: Math.max(Math.floor(last / step) - from + 1, 0) }, (_, i) => (from + i) * step);
}

/** An axis of seconds per call; one from 0 would hide changes. @type {Axis} */
export const durations = (low, high, from, to) => {
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
};

/** An axis of moments, in the time of the reader. @type {Axis} */
export const moments = (low, high, from, to) => {
  const free = Math.max((high - low) * EDGE, 1);
  const [first, last] = [low - free, high + free];
  const step = (STEPS.find((each) => (last - first) / MINUTE / each <= TICKS) ?? (last - first) / MINUTE / TICKS) * MINUTE;
  const off = new Date(first * 1000).getTimezoneOffset() * MINUTE; // so that days begin at midnight
  const ticks = multiples(first - off, last - off, step).map((local) => {
    const [day, time] = moment(local + off).split(' ');
    return { at: local + off, text: step < DAY && time !== '00:00' ? time : day };
  });
  return { place: (value) => from + ((value - first) / (last - first)) * (to - from), ticks, unit: '' };
};
