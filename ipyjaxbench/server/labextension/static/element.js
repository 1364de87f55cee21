/** Elements made of text nodes: what a notebook or a history says never becomes markup. */

import { line } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';

/** Make an element of HTML. @type {Make<HTMLElementTagNameMap>} */
export const element = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** Make an element of SVG. @type {Make<SVGElementTagNameMap>} */
export const shape = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** @template {Element} E @param {E} made @param {Attributes | undefined} attributes @param {Child[]} children */
function fill(made, attributes = {}, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value != null) made.setAttribute(name, String(value));
  }
  refill(made, ...children);
  return made;
}

/** Replace what is in an element. @param {Element} parent @param {...Child} children */
export function refill(parent, ...children) {
  const shown = children.filter((child) => child || child === 0);
  parent.replaceChildren(...shown.map((child) => (child instanceof Node ? child : String(child))));
}

/** Code in a line with an end. @param {string} text */
export const code = (text) => element('code', {}, line(text));

/** Make a list of terms, without those that have nothing to say. @param {[string, Child][]} facts */
export function terms(facts) {
  const known = facts.filter(([, value]) => value);
  return element('dl', { class: 'fw-terms' }, ...known.flatMap(([name, value]) => [
    element('dt', {}, name), element('dd', {}, value),
  ]));
}

/** @param {string[]} heads @param {Child[]} rows @param {string} caption @param {string} [style] a class */
export function table(heads, rows, caption, style) {
  return element('table', { class: style }, element('caption', {}, caption),
    heads.length > 0 && element('thead', {}, element('tr', {},
      ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, ...rows));
}
