/** The page: which view an address shows, and the frame around it. */

import { link } from './address.js';
import { Api } from './api.js';
import { showCode } from './code.js';
import { showComparison } from './comparison.js';
import { element, refill } from './element.js';
import { showMachine } from './machine.js';
import { showMeasurement } from './measurement.js';
import { Measurements } from './measurements.js';

const api = new Api((path, query) => fetch(`ipyjaxbench/api/${path}?${query}`));
const measurements = new Measurements(api, (href) => go(href));
const main = element('main', { tabindex: -1 });
const trouble = element('p', { class: 'fw-message', role: 'alert', hidden: true });
const VIEWS = ['', 'compare', 'machine'];
const links = ['Measurements', 'Compare', 'Machine'].map((name, i) => link(i ? { view: VIEWS[i] } : {}, name));
let turn = 0;

/** @param {URLSearchParams} query @returns {Promise<View>} */
function viewOf(query) {
  const [view, id, series] = ['view', 'id', 'series'].map((name) => query.get(name));
  if (view === 'machine') return showMachine(api);
  if (view === 'compare') return showComparison(api, query);
  if (id) return showMeasurement(api, id);
  return series ? showCode(api, series) : measurements.show(query);
}

/** Show what the address says; the focus goes to a view that was not there before. */
async function show() {
  const own = ++turn;
  const query = new URLSearchParams(location.search);
  const place = VIEWS.indexOf(query.get('view') ?? '');
  links.forEach((each, i) => each.setAttribute('aria-current', i === place ? 'page' : 'false'));
  main.setAttribute('aria-busy', 'true');
  try {
    const { title, node } = await viewOf(query);
    if (own !== turn) return; // another address was chosen meanwhile
    document.title = `${title} · Timings`;
    refill(trouble);
    if (main.firstChild !== node) {
      const first = !main.firstChild;
      refill(main, node);
      if (!first) main.focus();
      scrollTo(0, 0);
    }
  } catch (error) {
    if (own !== turn) return;
    refill(trouble, error.message);
  }
  trouble.hidden = !trouble.textContent;
  main.removeAttribute('aria-busy');
}

/** @param {string} href of this page */
function go(href) {
  if (new URL(href, location.href).href !== location.href) history.pushState(null, '', href);
  show();
}

document.addEventListener('click', (event) => {
  const chosen = event.target instanceof Element && event.target.closest('a[href]:not([target], [download])');
  const plain = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  const to = chosen && new URL(chosen.getAttribute('href') ?? '', location.href);
  if (!to || !plain || to.origin !== location.origin || to.pathname !== location.pathname) return;
  event.preventDefault();
  go(to.href);
});
addEventListener('popstate', show);
refill(document.body,
  element('header', { class: 'fw-head' }, element('h1', {}, 'Timings'), element('nav', { 'aria-label': 'Views' }, ...links)),
  trouble, main);
show();
