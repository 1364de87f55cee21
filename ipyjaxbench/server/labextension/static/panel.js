/** The panel "Timings": the measured cells of the notebook in front, in the order of its cells. */

import { element, refill } from './element.js';
import { basename, count, moment } from './format.js';
import { Row } from './row.js';

/** Draws what a watch knows. */
export class Panel {
  /** @param {Watch} watch @param {(query: Query) => string} page address of the page */
  constructor(watch, page) {
    this._watch = watch;
    /** @type {Actions} */
    this._actions = { reveal: (cell) => watch.front?.reveal(cell), pin: (run) => watch.pin(run), page };
    /** @type {Map<string, Row>} */
    this._rows = new Map();
    /** @type {Front | null | undefined} */
    this._front = undefined;
    this._runs = '';
    this._heading = element('h2');
    this._baseline = element('select', { change: () => watch.pin(this._baseline.value || null) });
    this._chosen = element('label', { class: 'fw-baseline' }, 'Compared with ', this._baseline);
    this._link = element('a', { target: '_blank', rel: 'noopener' }, 'All measurements');
    this._message = element('p', { class: 'fw-message', role: 'status' });
    this._list = element('ul', { class: 'fw-rows' });
    this.node = element('div', { class: 'fw-panel' },
      element('header', {}, this._heading, this._chosen, this._link), this._message, this._list);
    this.draw();
  }

  /** Draw anew. */
  draw() {
    const { front, message, notebook, baseline, here, absent } = this._watch;
    if (front !== this._front) this._turn(front);
    const cells = this._cells(here);
    refill(this._message, cells.length && !notebook?.cells.length ? '' : message); // the first is measured now
    this._message.hidden = !this._message.textContent;
    this._chosen.hidden = !notebook?.runs.length;
    this._link.hidden = absent;
    this._drawRuns(baseline);
    const nodes = cells.map((cell) => {
      const row = this._rows.get(cell.cell) ?? new Row(cell.cell, this._actions);
      this._rows.set(cell.cell, row);
      row.update(cell, here.find((now) => now.cell === cell.cell) ?? null, baseline);
      return row.node;
    });
    const { children } = this._list; // rows that stay where they are keep the focus
    if (nodes.length !== children.length || nodes.some((node, i) => node !== children[i])) refill(this._list, ...nodes);
  }

  /** What to show; a cell that is measured for the first time has a row too. @param {Measuring[]} here */
  _cells(here) {
    const { front, notebook } = this._watch;
    const known = new Map((notebook?.cells ?? []).map((cell) => [cell.cell, cell]));
    for (const { cell, line } of here) {
      if (!known.has(cell)) known.set(cell, { cell, number: 0, line, measured: [] });
    }
    const there = (front?.cells() ?? []).flatMap((id) => known.get(id) ?? []);
    // Files before nbformat 4.5 name no cells.
    return there.length ? there : [...known.values()];
  }

  /** Turn to another notebook. @param {Front | null} front */
  _turn(front) {
    this._front = front;
    this._rows.clear();
    refill(this._heading, basename(front?.path ?? ''));
    this._heading.title = front?.path ?? '';
    this._link.href = this._actions.page(front ? { notebook: front.path } : {});
  }

  /** Offer baselines. @param {string | null} baseline */
  _drawRuns(baseline) {
    const runs = this._watch.notebook?.runs ?? [];
    const shown = JSON.stringify([runs, baseline]);
    if (shown === this._runs) return;
    this._runs = shown;
    refill(this._baseline, element('option', { value: '' }, 'the run before'),
      ...runs.map(({ run, when, count: n }) => element('option', { value: run }, `${moment(when)}, ${count(n, 'measurement')}`)),
      !runs.some(({ run }) => run === baseline) && baseline && element('option', { value: baseline }, 'a run that is gone'));
    this._baseline.value = baseline ?? '';
  }
}
