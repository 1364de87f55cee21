/** Elements made of text nodes: what a notebook or a history says never becomes markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * Make an HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes] functions are listeners; true is empty; false is left out
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} made
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value != null) made.setAttribute(name, String(value));
  }
  made.append(...nodes(children));
  return made;
}

/**
 * Replace what is in an element.
 * @param {Element} parent
 * @param {...Child} children
 */
export function refill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false && child !== '')
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Make a list of terms, without those that have nothing to say.
 * @param {[string, Child][]} facts
 * @returns {HTMLDListElement}
 */
export function terms(facts) {
  const told = facts.filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return element('dl', { class: 'fw-terms' }, ...told.flatMap(([name, value]) => [
    element('dt', {}, name), element('dd', {}, value),
  ]));
}
