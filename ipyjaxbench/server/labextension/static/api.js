/** The read-only API of the server extension; openapi.yaml is its contract. */

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
  /** @param {(path: string, query: string) => Promise<Response>} get fetches what is below `api` */
  constructor(get) {
    this._get = get;
  }

  /** @param {Query} query @returns {Promise<Found>} */
  history(query) {
    return this._json('history', query);
  }

  /** @param {string} id @returns {Promise<Details>} */
  measurement(id) {
    return this._json(`history/${encodeURIComponent(id)}`);
  }

  /** @param {string} path @param {string | null} baseline a run @returns {Promise<Notebook>} */
  notebook(path, baseline) {
    const parts = path.split('/').map(encodeURIComponent).join('/');
    return this._json(`notebook/${parts}`, { ...UNSEEN, ...(baseline && { baseline }) });
  }

  /** @param {string} before @param {string} after @returns {Promise<Comparison>} */
  compare(before, after) {
    return this._json('compare', { before, after });
  }

  /** @returns {Promise<Machine>} */
  machine() {
    return this._json('machine');
  }

  /** @returns {Promise<Live>} */
  live() {
    return this._json('live', UNSEEN);
  }

  /** @param {string} path @param {Query} [query] */
  async _json(path, query = {}) {
    const response = await this._get(path, String(new URLSearchParams(query)));
    const told = await response.json().catch(() => ({}));
    if (!response.ok) throw new ApiError(response.status, String(told.message || response.statusText));
    return told;
  }
}

const UNSEEN = { no_track_activity: '1' }; // asked by a clock, which is no activity of a person
