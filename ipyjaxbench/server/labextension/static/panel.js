/** The panel "Timings": the measured cells of the notebook in front, in the order of its cells. */

import { element, refill } from './element.js';
import { basename, count, moment } from './format.js';
import { Row } from './row.js';

/** @typedef {import('./api.js').Cell} Cell */
/** @typedef {import('./api.js').Measuring} Measuring */
/** @typedef {import('./watch.js').Watch} Watch */

/** Draws what a watch knows. */
export class Panel {
  /**
   * @param {Watch} watch
   * @param {(query: Record<string, string>) => string} page address of the page
   */
  constructor(watch, page) {
    this._watch = watch;
    this._page = page;
    /** @type {Map<string, Row>} */
    this._rows = new Map();
    this._path = '';
    this._runs = '';
    this._heading = element('h2', {});
    this._baseline = element('select', {
      change: () => watch.pin(this._baseline.value || null),
    });
    this._link = element('a', { target: '_blank', rel: 'noopener' }, 'All measurements');
    this._chosen = element('label', { class: 'fw-baseline' }, 'Compared with ', this._baseline);
    this._message = element('p', { class: 'fw-message', role: 'status' });
    this._list = element('ul', { class: 'fw-rows' });
    this.node = element('div', { class: 'fw-panel' },
      element('header', {}, this._heading, this._chosen, this._link), this._message, this._list);
    this.draw();
  }

  /** Draw what is new. */
  draw() {
    const { front, message, notebook, baseline } = this._watch;
    if (this._path !== (front?.path ?? '')) this._clear(front?.path ?? '');
    const here = this._watch.here;
    const cells = this._cells(here);
    this._message.textContent = cells.length && !notebook?.message ? '' : message;
    this._message.hidden = !this._message.textContent;
    this._chosen.hidden = !notebook?.runs.length;
    this._link.hidden = this._watch.absent;
    this._drawRuns(baseline);
    const kept = new Set(cells.map(({ cell }) => cell));
    for (const [cell, row] of this._rows) {
      if (!kept.has(cell)) {
        row.node.remove();
        this._rows.delete(cell);
      }
    }
    cells.forEach((cell, i) => {
      const row = this._row(cell.cell);
      row.update(cell, here.find((now) => now.cell === cell.cell), baseline);
      if (this._list.children[i] !== row.node) this._list.insertBefore(row.node, this._list.children[i] ?? null);
    });
  }

  /**
   * What to show, in the order of the cells as they are now; those that are measured for the
   * first time have a row too.
   * @param {Measuring[]} here @returns {Cell[]}
   */
  _cells(here) {
    const { front, notebook } = this._watch;
    if (!front) return [];
    const known = new Map((notebook?.cells ?? []).map((cell) => [cell.cell, cell]));
    for (const { cell, line } of here) {
      if (!known.has(cell)) known.set(cell, { cell, number: 0, line, measured: [] });
    }
    const order = front.cells();
    const there = order.filter((id) => known.has(id));
    // Files before nbformat 4.5 name no cells: all that was measured is shown as it was found.
    return there.length ? there.map((id) => /** @type {Cell} */ (known.get(id))) : [...known.values()];
  }

  /** @param {string} cell @returns {Row} */
  _row(cell) {
    const row = this._rows.get(cell) ?? new Row(cell, {
      reveal: (id) => this._watch.front?.reveal(id),
      pin: (run) => this._watch.pin(run),
      page: this._page,
    });
    this._rows.set(cell, row);
    return row;
  }

  /** @param {string} path */
  _clear(path) {
    this._path = path;
    this._rows.clear();
    refill(this._list);
    this._heading.textContent = basename(path);
    this._heading.title = path;
    this._link.href = this._page(path ? { notebook: path } : {});
  }

  /** @param {string | null} baseline */
  _drawRuns(baseline) {
    const runs = this._watch.notebook?.runs ?? [];
    const shown = JSON.stringify([runs, baseline]);
    if (shown === this._runs) return;
    this._runs = shown;
    const gone = baseline && !runs.some(({ run }) => run === baseline);
    refill(this._baseline, element('option', { value: '' }, 'the run before'),
      ...runs.map(({ run, when, count: n }) => element('option', { value: run },
        `${moment(when)}, ${count(n, 'measurement')}`)),
      gone && element('option', { value: baseline }, 'a run that is gone'));
    this._baseline.value = baseline ?? '';
  }
}
