/** The run that a notebook is compared with, as this browser remembers it. */

/** Where storage is turned off, a choice lasts as long as the page. @type {Map<string, string>} */
const kept = new Map();

/** @param {string} notebook @returns {string} */
const key = (notebook) => `ipyjaxbench:baseline:${notebook}`;

/** @param {string} notebook with the server's address @returns {string | null} a run */
export function baselineOf(notebook) {
  try {
    return localStorage.getItem(key(notebook)) ?? kept.get(notebook) ?? null;
  } catch {
    return kept.get(notebook) ?? null;
  }
}

/** @param {string} notebook @param {string | null} run null for none */
export function pinBaseline(notebook, run) {
  if (run === null) kept.delete(notebook);
  else kept.set(notebook, run);
  try {
    if (run === null) localStorage.removeItem(key(notebook));
    else localStorage.setItem(key(notebook), run);
  } catch { // turned off, or full
  }
}
