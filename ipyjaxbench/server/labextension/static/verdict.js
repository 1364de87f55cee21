/** How verdicts look: an icon, a colour and a word, as in the reports of the magics. */

import { element } from './element.js';

/** @type {Record<string, [string, string]>} */
const LOOKS = {
  QUIET: ['✓', 'good'], OK: ['✓', 'fair'], NOISY: ['▲', 'care'], FEW: ['▲', 'care'],
  INVALID: ['✗', 'bad'], RECOMPILES: ['↻', 'bad'],
  FASTER: ['✓', 'good'], SLOWER: ['✗', 'bad'], SAME: ['=', 'fair'],
  "CAN'T TELL": ['?', 'open'],
};

/** @param {string} word @param {string} [shown] instead of the word @param {string} [title] */
export function verdict(word, shown = word, title) {
  const [icon, tone] = LOOKS[word] ?? ['○', 'open'];
  return element('span', { class: `fw-verdict fw-${tone}`, title },
    element('span', { class: 'fw-icon', 'aria-hidden': 'true' }, icon), ' ', shown);
}

/** @param {Change | null} change @param {string} [against] @param {string} [none] where there is no other run */
export function changed(change, against = 'medians, against the run before', none = 'first run') {
  if (!change) return none;
  return verdict(change.verdict, change.words, against);
}
