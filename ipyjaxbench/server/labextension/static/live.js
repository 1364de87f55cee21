/** What is measured now, in words and as an interval that narrows. */

import { element, shape } from './element.js';
import { duration, line, percent } from './format.js';

/** @typedef {import('./api.js').Measuring} Measuring */

const WIDEST = 0.5; // relative half width that fills the bar

/**
 * @param {Measuring} now @returns {string} how far it is
 */
export function progress({ phase, half_width: half, left, died }) {
  if (died) return 'the kernel died while it measured';
  const known = half === null || half === undefined ? '' : ` ±${percent(half)}`;
  const rest = left ? `, about ${duration(Math.max(Math.round(left), 1), 2)} left` : '';
  return `${phase}${known}${rest}`;
}

/** @param {Measuring} now @returns {string} in one line */
export const headline = (now) => `${line(now.line)}: ${progress(now)}`;

/**
 * Whether it runs in a notebook: by its path, as the kernel and the server may have other roots.
 * @param {Measuring} now @param {string} path @param {Set<string>} cells ids of its cells
 */
export function isIn({ notebook, cell }, path, cells) {
  const told = notebook.replaceAll('\\', '/');
  const same = told === path || told.endsWith(`/${path}`) || path.endsWith(`/${told}`);
  return same || (!told && cells.has(cell));
}

/**
 * Draw what is known so far.
 * @param {Measuring} now @returns {HTMLElement}
 */
export function liveBar(now) {
  const half = now.half_width;
  const wide = half === null ? 100 : Math.max(100 * Math.min(half / WIDEST, 1), 1);
  return element('div', { class: `fw-live${now.died ? ' fw-bad' : ''}` },
    element('span', {}, progress(now)),
    !now.died && shape('svg', { viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      shape('rect', { x: 50 - wide / 2, y: 0, width: wide, height: 6, class: half === null ? 'fw-unknown' : 'fw-interval' }),
      shape('rect', { x: 49.7, y: 0, width: 0.6, height: 6, class: 'fw-middle' })));
}
