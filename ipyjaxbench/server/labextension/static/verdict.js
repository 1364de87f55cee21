/** How verdicts look: an icon, a colour and a word, as in the reports of the magics. */

import { element } from './element.js';
import { number } from './format.js';

/** @typedef {import('./api.js').Change} Change */

/** @type {Record<string, [string, string]>} */
const LOOKS = {
  QUIET: ['✓', 'good'],
  OK: ['✓', 'fair'],
  NOISY: ['▲', 'care'],
  FEW: ['▲', 'care'],
  ONCE: ['○', 'open'],
  INVALID: ['✗', 'bad'],
  RECOMPILES: ['↻', 'bad'],
  FASTER: ['✓', 'good'],
  SLOWER: ['✗', 'bad'],
  SAME: ['=', 'fair'],
  "CAN'T TELL": ['?', 'open'],
};

/**
 * Show a verdict.
 * @param {string} word @param {string} [shown] instead of the word @param {string} [title]
 * @returns {HTMLElement}
 */
export function verdict(word, shown = word, title = '') {
  const [icon, tone] = LOOKS[word] ?? ['○', 'open'];
  return element('span', { class: `fw-verdict fw-${tone}`, title: title || null },
    element('span', { class: 'fw-icon', 'aria-hidden': 'true' }, icon), ' ', shown);
}

/**
 * Show a change; nothing where there is no other run.
 * @param {Change | null} change @param {string} against what it is held against
 * @returns {HTMLElement | null}
 */
export function changed(change, against) {
  if (!change) return null;
  return verdict(change.verdict, change.words, `${against}: ${ratio(change)}`);
}

/** @param {Change} change @returns {string} */
function ratio({ ratio: value, low, high }) {
  if (value === null) return 'no ratio';
  const ends = low === null || high === null ? '' : ` (${number(low)} to ${number(high)})`;
  return `${number(value)} times as long${ends}`;
}
