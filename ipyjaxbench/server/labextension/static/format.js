/** Seconds, bytes, counts and moments in words, as ipyjaxbench writes them elsewhere. */

/** @type {[number, string][]} */
const SECONDS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
/** @type {[number, string][]} */
const BYTES = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']];
const MOST = 300; // characters of a line that others wrote

/**
 * A number to so many significant digits, never in powers of ten.
 * @param {number} value @param {number} [digits] @returns {string}
 */
export function number(value, digits = 3) {
  if (!value || !Number.isFinite(value)) return String(value).replace('Infinity', '∞');
  const exponent = Number(value.toExponential(digits - 1).split('e')[1]); // 9.996 is 10.0
  return value.toFixed(Math.min(Math.max(digits - 1 - exponent, 0), 100));
}

/**
 * Seconds with the unit that a person would choose.
 * @param {number} seconds @param {number} [digits] @returns {string}
 */
export function duration(seconds, digits = 3) {
  if (!Number.isFinite(seconds)) return '∞';
  if (seconds >= 3600) return `${(seconds / 3600).toFixed(2)} h`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  const [size, unit] = unitOf(seconds, digits);
  return seconds === 0 ? '0 ns' : `${number(seconds / size, digits)} ${unit}`;
}

/**
 * The unit of seconds that a person would choose, with its size.
 * @param {number} seconds @param {number} [digits] @returns {[number, string]}
 */
export function unitOf(seconds, digits = 3) {
  return SECONDS.find(([size]) => seconds >= size * (1 - 0.5 * 10 ** -digits)) ?? [1e-9, 'ns'];
}

/**
 * Two ends of a range of seconds.
 * @param {number} low @param {number} high @returns {string}
 */
export function span(low, high) {
  const [first, last] = [duration(low, 2), duration(high, 2)];
  if (first === last) return first;
  const unit = last.slice(last.lastIndexOf(' '));
  return first.endsWith(unit) ? `${first.slice(0, -unit.length)}–${last}` : `${first} to ${last}`;
}

/** @param {number} part @returns {string} */
export const percent = (part) => `${number(100 * part, 2)} %`;

/** @param {number} bytes @returns {string} */
export function size(bytes) {
  const [scale, unit] = BYTES.find(([each]) => bytes >= each) ?? [1, 'B'];
  return scale === 1 ? `${bytes} B` : `${number(bytes / scale)} ${unit}`;
}

/**
 * A number with its noun.
 * @param {number} n @param {string} noun @returns {string}
 */
export const count = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

/**
 * A moment in the time of the reader, to the minute.
 * @param {number} when seconds since 1970 @returns {string}
 */
export function moment(when) {
  const date = new Date(when * 1000);
  if (Number.isNaN(date.getTime())) return '?';
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** @param {Record<string, string>} known @param {string} [python] @returns {string} */
export function versions(known, python = '') {
  const told = Object.keys(known).sort().map((name) => `${name} ${known[name]}`);
  return [...told, ...(python ? [`Python ${python}`] : [])].join(', ');
}

/** The first characters of a commit. @param {string} commit @returns {string} */
export const revision = (commit) => commit.replace(/^([0-9a-f]{10})[0-9a-f]{10,}/, '$1');

/** The last part of a path. @param {string} path @returns {string} */
export const basename = (path) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

/** A line that is not endless. @param {string} text @returns {string} */
export const line = (text) => (text.length > MOST ? `${text.slice(0, MOST)}…` : text);
