/** Addresses of the page: each view has its own. */

import { element } from './element.js';

const USUAL = new Map([['newest', '1'], ['sort', 'regressions'], ['offset', '0']]); // goes without saying

/** @param {Query} query */
export function addressOf(query) {
  const filled = Object.entries(query).filter(([name, value]) => value !== (USUAL.get(name) ?? ''));
  return `${location.pathname}${filled.length ? '?' : ''}${new URLSearchParams(filled)}`;
}

/** A link to a view. @param {Query} query @param {...Child} children */
export const link = (query, ...children) => element('a', { href: addressOf(query) }, ...children);

/** What an address asks for of the history. @param {URLSearchParams} address */
export function queryOf(address) {
  /** @type {Query} */
  const query = {};
  for (const name of ['text', 'notebook', 'framework', 'device', 'since', 'until', 'newest', 'sort', 'offset']) {
    const value = address.get(name) ?? USUAL.get(name);
    if (value) query[name] = value;
  }
  return query;
}
