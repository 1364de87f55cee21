/** The read-only API of the server extension; openapi.yaml is its contract. */

/** @typedef {{verdict: string, words: string, ratio: number | null, low: number | null, high: number | null}} Change */
/** @typedef {{phase: string, seconds: number}} Phase */
/**
 * @typedef {object} Measured
 * @property {string} id
 * @property {string} run of which process
 * @property {string} series equal for runs of the same code
 * @property {string} name
 * @property {string} line first line of the code
 * @property {string} magic
 * @property {Record<string, string>} at values of swept names
 * @property {number} when seconds since 1970
 * @property {number} median seconds
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} figure the median with its interval in words
 * @property {string} verdict
 * @property {string} clock
 * @property {string} notebook
 * @property {string} cell
 * @property {Record<string, string>} frameworks
 * @property {string[]} devices
 * @property {string} revision
 * @property {string} python
 * @property {Phase[]} first_call
 * @property {Change | null} change
 * @property {number[]} trend medians, the oldest first
 */
/**
 * @typedef {object} History
 * @property {Measured[]} measured
 * @property {number} found
 * @property {number} kept
 * @property {number} offset
 * @property {Record<string, string[]>} names
 * @property {string} folder
 * @property {string} owner
 * @property {Record<string, number>} unread
 * @property {string} message
 */
/**
 * @typedef {Measured & {code: string, samples: number[], data: Record<string, unknown>, directory: string,
 *   cpu: string, cpus: number, gpus: string[], picture: string}} Details
 */
/** @typedef {{cell: string, number: number, line: string, measured: Measured[]}} Cell */
/** @typedef {{run: string, when: number, count: number}} Run */
/** @typedef {{path: string, cells: Cell[], runs: Run[], baseline: string | null, message: string}} Notebook */
/** @typedef {{name: string, before: any, after: any, change: Change | null, edited: boolean}} Pair */
/**
 * @typedef {object} Comparison
 * @property {string} before
 * @property {string} after
 * @property {string[]} differs
 * @property {Pair[]} pairs
 * @property {string[]} only_before
 * @property {string[]} only_after
 */
/**
 * @typedef {object} Machine
 * @property {string} host
 * @property {string} python
 * @property {string} cpu
 * @property {number} cpus
 * @property {number} memory
 * @property {number} memory_free
 * @property {Record<string, unknown>[]} gpus
 * @property {Record<string, string>} frameworks
 * @property {{device: string, rows: string[][]}[]} ceilings
 * @property {string} folder
 * @property {boolean} measuring
 */
/**
 * @typedef {object} Measuring
 * @property {string} run
 * @property {string} notebook
 * @property {string} cell
 * @property {string} line
 * @property {string} phase
 * @property {number} began
 * @property {number | null} half_width
 * @property {number | null} left seconds
 * @property {boolean} died
 */
/** @typedef {{version: string, measuring: Measuring[]}} Live */
/** @typedef {(path: string, query: string) => Promise<Response>} Get */

/** What the server refused, in its words. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asks the server. */
export class Api {
  /** @param {Get} get fetches a path below `ipyjaxbench/api` with a query */
  constructor(get) {
    this._get = get;
  }

  /** @param {Record<string, string>} query @returns {Promise<History>} */
  history(query) {
    return this._json('history', query);
  }

  /** @param {string} id @returns {Promise<Details>} */
  measurement(id) {
    return this._json(`history/${encodeURIComponent(id)}`, {});
  }

  /** @param {string} path @param {string | null} baseline a run @returns {Promise<Notebook>} */
  notebook(path, baseline) {
    const parts = path.split('/').map(encodeURIComponent).join('/');
    return this._json(`notebook/${parts}`, baseline ? { baseline } : {}, true);
  }

  /** @param {string} before @param {string} after @returns {Promise<Comparison>} */
  compare(before, after) {
    return this._json('compare', { before, after });
  }

  /** @returns {Promise<Machine>} */
  machine() {
    return this._json('machine', {});
  }

  /** @returns {Promise<Live>} */
  live() {
    return this._json('live', {}, true);
  }

  /**
   * @param {string} path @param {Record<string, string>} query
   * @param {boolean} [polled] does not count as activity of a person
   * @returns {Promise<any>}
   */
  async _json(path, query, polled = false) {
    const search = new URLSearchParams(polled ? { ...query, no_track_activity: '1' } : query);
    const response = await this._get(path, String(search));
    if (!response.ok) throw new ApiError(response.status, await reason(response));
    return response.json();
  }
}

/** @param {Response} response @returns {Promise<string>} */
async function reason(response) {
  const told = await response.json().catch(() => ({}));
  return String(told.message || response.statusText || response.status);
}
