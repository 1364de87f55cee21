/** What is measured now, in words and as an interval that narrows. */

import { element, shape } from './element.js';
import { duration, percent } from './format.js';

const WIDEST = 0.5; // relative half width that fills the bar

/** How far it is. @param {Measuring} now */
export function progress({ phase, half_width: half, left, died }) {
  if (died) return 'the kernel died while it measured';
  const rest = left ? `, at most ${duration(Math.max(Math.round(left), 1), 2)} left` : '';
  return `${phase}${half === null ? '' : ` ±${percent(half)}`}${rest}`;
}

/** Whether it runs in a notebook; other roots are possible. @param {Measuring} now @param {string} path @param {string[]} cells ids */
export function isIn({ notebook, cell }, path, cells) {
  const place = `/${notebook.replaceAll('\\', '/')}`;
  return notebook ? place.endsWith(`/${path}`) || `/${path}`.endsWith(place) : cells.includes(cell);
}

/** Draw what is known so far. @param {Measuring} now */
export function liveBar(now) {
  const half = now.half_width;
  const wide = Math.max(100 * Math.min((half ?? 1) / WIDEST, 1), 1);
  return element('div', { class: 'fw-live' }, progress(now),
    !now.died && shape('svg', { viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      half !== null && shape('rect', { x: 50 - wide / 2, width: wide, height: 6 })));
}
