/** The first call as a bar of its phases. */

import { element, shape } from './element.js';
import { duration, percent } from './format.js';

const COLOURS = 6;

/** Draw a bar with a legend. @param {Phase[]} phases */
export function phaseBar(phases) {
  const known = phases.filter(({ seconds }) => seconds > 0);
  if (!known.length) return null;
  const whole = known.reduce((sum, { seconds }) => sum + seconds, 0);
  const labels = known.map(({ phase, seconds }) => `${phase} ${duration(seconds)}`);
  const style = (/** @type {number} */ i) => `fw-phase-${i % COLOURS}`;
  let left = 0;
  const parts = known.map(({ seconds }, i) => {
    const wide = (100 * seconds) / whole;
    left += wide;
    return shape('rect', { x: left - wide, width: wide, height: 10, class: style(i) },
      shape('title', {}, `${labels[i]}, ${percent(seconds / whole)}`));
  });
  return element('div', { class: 'fw-phases' }, duration(whole),
    shape('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...parts),
    element('ul', {}, ...labels.map((text, i) => element('li', {},
      shape('svg', { viewBox: '0 0 8 8', 'aria-hidden': 'true' },
        shape('rect', { width: 8, height: 8, class: style(i) })), ' ', text))));
}
