/** The run that a notebook is compared with, as this browser remembers it. */

/** @param {string} notebook */
const key = (notebook) => `ipyjaxbench:baseline:${notebook}`;

/** @param {string} notebook */
export function baselineOf(notebook) {
  try {
    return localStorage.getItem(key(notebook));
  } catch { // turned off
    return null;
  }
}

/** @param {string} notebook @param {string | null} run null for none */
export function pinBaseline(notebook, run) {
  try {
    if (run) localStorage.setItem(key(notebook), run);
    else localStorage.removeItem(key(notebook));
  } catch { // turned off, or full
  }
}
