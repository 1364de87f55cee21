/** The last runs of some code as a small line. */

import { shape } from './element.js';
import { span } from './format.js';

const [WIDE, HIGH, EDGE] = [80, 20, 3];
const LEAST_RATIO = 1.5; // below it, noise would look like hills

/** Draw medians, the oldest first; equal heights are equal ratios. @param {number[]} values */
export function sparkline(values) {
  const shown = values.filter((value) => value > 0 && Number.isFinite(value));
  if (shown.length < 2) return null;
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const reach = Math.log(Math.max(high / low, LEAST_RATIO));
  const points = shown.map((value, i) => [
    EDGE + (i / (shown.length - 1)) * (WIDE - 2 * EDGE),
    HIGH - EDGE - (Math.log(value / low) / reach) * (HIGH - 2 * EDGE),
  ].map((place) => place.toFixed(1)));
  const title = `medians of ${shown.length} runs: ${span(low, high)}`;
  const [x, y] = points[points.length - 1];
  return shape('svg', {
    class: 'fw-sparkline', viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, role: 'img',
  }, shape('title', {}, title), shape('polyline', { points: points.join(' ') }), shape('circle', { cx: x, cy: y, r: 2 }));
}
