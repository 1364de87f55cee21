/** The read-only API of the server extension; openapi.yaml is its contract. */

/** Why there is no answer. @param {string} message @param {number} [status] none from a silent server */
const failure = (message, status) => Object.assign(new Error(message), { status });

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
    const response = await this._get(path, String(new URLSearchParams(query)))
      .catch(() => { throw failure('The Jupyter server does not answer.'); });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) throw failure(body.message || response.statusText, response.status);
    return body;
  }
}

const UNSEEN = { no_track_activity: '1' }; // asked by a clock, which is no activity of a person
