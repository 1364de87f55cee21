/** The first call as a bar of its phases. */

import { element, shape } from './element.js';
import { duration, percent } from './format.js';

/** @typedef {import('./api.js').Phase} Phase */

/**
 * Draw a bar with a legend.
 * @param {Phase[]} phases @returns {HTMLElement | null} null where the first call is not known
 */
export function phaseBar(phases) {
  const known = phases.filter(({ seconds }) => seconds > 0 && Number.isFinite(seconds));
  const whole = known.reduce((sum, { seconds }) => sum + seconds, 0);
  if (!whole) return null;
  let left = 0;
  const parts = known.map(({ phase, seconds }, i) => {
    const wide = (100 * seconds) / whole;
    const part = shape('rect', { x: left, y: 0, width: wide, height: 10, class: `fw-phase-${i % 6}` },
      shape('title', {}, `${phase} ${duration(seconds)}, ${percent(seconds / whole)}`));
    left += wide;
    return part;
  });
  const told = known.map(({ phase, seconds }) => `${phase} ${duration(seconds)}`);
  return element('div', { class: 'fw-phases' },
    element('span', {}, duration(whole)),
    shape('svg', {
      viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': told.join(', '),
    }, ...parts),
    element('ul', {}, ...told.map((text, i) => element('li', {},
      shape('svg', { viewBox: '0 0 8 8', 'aria-hidden': 'true' },
        shape('rect', { width: 8, height: 8, class: `fw-phase-${i % 6}` })), ' ', text))));
}
