/** The page: which view an address shows, and the frame around it. */

import { Api } from './api.js';
import { showCode } from './code.js';
import { showComparison } from './comparison.js';
import { element, refill } from './element.js';
import { showMachine } from './machine.js';
import { showMeasurement } from './measurement.js';
import { Measurements } from './measurements.js';

/** @typedef {{title: string, node: Node}} View */

const api = new Api((path, query) => fetch(`ipyjaxbench/api/${path}${query && `?${query}`}`, { credentials: 'same-origin' }));
const main = element('main', { tabindex: -1 });
const trouble = element('p', { class: 'fw-message', role: 'alert', hidden: true });
const measurements = new Measurements(api, go);
/** @type {[string, string][]} */
const PLACES = [['', 'Measurements'], ['?view=compare', 'Compare'], ['?view=machine', 'Machine']];
const links = PLACES.map(([query, name]) => element('a', { href: location.pathname + query }, name));
let turn = 0;

/**
 * Which view shows a query; the view of measurements is kept, so that who types into it goes on.
 * @param {URLSearchParams} query @returns {[number, () => Promise<View>]} its place in the navigation
 */
function viewOf(query) {
  const id = query.get('id');
  const series = query.get('series');
  if (query.get('view') === 'machine') return [2, () => showMachine(api)];
  if (query.get('view') === 'compare') return [1, () => showComparison(api, query)];
  if (id) return [0, () => showMeasurement(api, id)];
  if (series) return [0, () => showCode(api, series)];
  return [0, () => measurements.show(query)];
}

/** Show what the address says. @param {boolean} [moved] to another view: the focus goes there */
async function show(moved = false) {
  const own = ++turn;
  const [place, make] = viewOf(new URLSearchParams(location.search));
  links.forEach((link, i) => {
    if (i === place) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  });
  main.setAttribute('aria-busy', 'true');
  try {
    const { title, node } = await make();
    if (own !== turn) return; // another address was chosen meanwhile
    trouble.hidden = true;
    document.title = `${title} · Timings`;
    if (main.firstChild !== node) refill(main, node);
    if (moved) {
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  } catch (error) {
    if (own !== turn) return;
    refill(trouble, error instanceof TypeError ? 'The Jupyter server does not answer.' : /** @type {Error} */ (error).message);
    trouble.hidden = false;
    if (moved) refill(main);
  } finally {
    if (own === turn) main.removeAttribute('aria-busy');
  }
}

/**
 * Go to an address of this page.
 * @param {string} href @param {boolean} [within] the same view
 */
function go(href, within = false) {
  history.pushState(null, '', href);
  show(!within);
}

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element && event.target.closest('a');
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button) return;
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target || link.hasAttribute('download');
  if (elsewhere || link.origin !== location.origin || link.pathname !== location.pathname || link.hash) return;
  event.preventDefault();
  go(link.href);
});
addEventListener('popstate', () => show(true));
refill(document.body,
  element('header', { class: 'fw-head' }, element('h1', {}, 'Timings'), element('nav', { 'aria-label': 'Views' }, ...links)),
  trouble, main);
show();
