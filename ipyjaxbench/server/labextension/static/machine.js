/** The view of the machine: where everything lives. */

import { element, table, terms } from './element.js';
import { size, versions } from './format.js';

/** @param {Api} api */
export async function showMachine(api) {
  const it = await api.machine();
  const none = it.measuring ? 'Not looked at while something is measured.' : 'None found.';
  return {
    title: 'Machine',
    node: element('article', {}, element('h2', {}, it.host || 'Machine'),
      terms([
        ['CPU', [it.cpu, `${it.cpus} usable`].filter(Boolean).join(', ')],
        ['memory', it.memory && `${size(it.memory_free)} free of ${size(it.memory)}`],
        ['installed', versions(it.frameworks, it.python)],
        ['history', it.folder],
      ]),
      element('h3', {}, 'GPUs'), it.gpus.length ? '' : none,
      ...it.gpus.map(deviceTable),
      element('h3', {}, 'Peaks'), it.peaks.length ? '' : 'None yet: %fwdevices --peak measures what devices reach.',
      ...it.peaks.map(deviceTable)),
  };
}

/** @param {DeviceRows} it */
function deviceTable({ device, rows }) {
  return table([], rows.map(([head, ...cells]) => element('tr', {},
    element('th', { scope: 'row' }, head), ...cells.map((cell) => element('td', {}, cell)))), device, 'fw-peaks');
}
