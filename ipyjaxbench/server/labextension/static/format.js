/** Seconds, bytes, counts and moments in words, as ipyjaxbench writes them elsewhere. */

/** @type {[number, string][]} */
const SECONDS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
/** @type {[number, string][]} */
const BYTES = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];
const MOST = 300; // characters of a line that others wrote

/** Significant digits, never powers of ten. @param {number} value */
export function number(value, digits = 3) {
  if (!value || !Number.isFinite(value)) return String(value).replace('Infinity', '∞');
  const exponent = Number(value.toExponential(digits - 1).split('e')[1]); // 9.996 is 10.0
  return value.toFixed(Math.min(Math.max(digits - 1 - exponent, 0), 100));
}

/** Seconds with the unit that a person would choose. @param {number} seconds */
export function duration(seconds, digits = 3) {
  if (!Number.isFinite(seconds)) return '∞';
  if (seconds >= 3600) return `${(seconds / 3600).toFixed(2)} h`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  const [size, unit] = unitOf(seconds, digits);
  return seconds === 0 ? '0 ns' : `${number(seconds / size, digits)} ${unit}`;
}

/** The size of that unit, and its name. @param {number} seconds */
export function unitOf(seconds, digits = 3) {
  return SECONDS.find(([size]) => seconds >= size * (1 - 0.5 * 10 ** -digits)) ?? SECONDS[3];
}

/** Two ends of a range of seconds. @param {number} low @param {number} high */
export function span(low, high) {
  const [first, last] = [duration(low), duration(high)];
  const unit = last.slice(last.lastIndexOf(' '));
  if (first === last) return first;
  return first.endsWith(unit) ? `${first.slice(0, -unit.length)}–${last}` : `${first} to ${last}`;
}

/** @param {number} part */
export const percent = (part) => `${number(100 * part, 2)} %`;

/** @param {number} bytes */
export function size(bytes) {
  const [scale, unit] = BYTES.find(([each]) => bytes >= each) ?? BYTES[4];
  return `${scale === 1 ? bytes : number(bytes / scale)} ${unit}`;
}

/** A number with its noun. @param {number} n @param {string} noun */
export const count = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

/** A moment in the time of the reader, to the minute. @param {number} when seconds since 1970 */
export function moment(when) {
  const there = new Date(when * 1000);
  const here = new Date(when * 1000 - there.getTimezoneOffset() * 60000);
  return Number.isNaN(here.getTime()) ? '?' : here.toISOString().slice(0, 16).replace('T', ' ');
}

/** @param {Query} known names with their versions @param {string} python */
export function versions(known, python) {
  const parts = Object.keys(known).sort().map((name) => `${name} ${known[name]}`);
  return [...parts, python && `Python ${python}`].filter(Boolean).join(', ');
}

/** The first characters of a commit. @param {string} commit */
export const revision = (commit) => commit.replace(/^([0-9a-f]{10})[0-9a-f]{10,}/, '$1');

/** Of a path. @param {string} path */
export const basename = (path) => path.replace(/^.*[/\\]/s, '');

/** A line with an end. @param {string} text */
export const line = (text) => (text.length > MOST ? `${text.slice(0, MOST)}…` : text);
