/** The view of the machine: where everything lives. */

import { element, terms } from './element.js';
import { size, versions } from './format.js';

/** @param {import('./api.js').Api} api @returns {Promise<{title: string, node: Node}>} */
export async function showMachine(api) {
  const it = await api.machine();
  return {
    title: 'Machine',
    node: element('article', {}, element('h2', {}, it.host || 'Machine'),
      terms([
        ['CPU', [it.cpu, `${it.cpus} usable`].filter(Boolean).join(', ')],
        ['memory', it.memory ? `${size(it.memory_free)} free of ${size(it.memory)}` : ''],
        ['Python', it.python],
        ['beside the server', versions(it.frameworks) || 'no framework'],
        ['history', element('code', {}, it.folder)],
      ]),
      element('h3', {}, 'GPUs'),
      ...(it.gpus.length ? it.gpus.map((gpu) => terms(Object.entries(gpu).map(([name, value]) => [name.replaceAll('_', ' '), words(name, value)])))
        : [element('p', {}, it.measuring ? 'Not looked at while something is measured.' : 'None that NVIDIA’s driver tells of.')]),
      element('h3', {}, 'Ceilings'),
      ...(it.ceilings.length ? it.ceilings.map(({ device, rows }) => element('table', { class: 'fw-ceilings' },
        element('caption', {}, device),
        element('tbody', {}, ...rows.map(([head, ...cells]) => element('tr', {},
          element('th', { scope: 'row' }, head), ...cells.map((cell) => element('td', {}, cell)))))))
        : [element('p', {}, 'None measured yet: %fwdevices --peak measures what the devices reach, and keeps it.')])),
  };
}

/** @param {string} name @param {unknown} value @returns {string} */
function words(name, value) {
  if (typeof value === 'number' && name.startsWith('memory')) return size(value);
  if (Array.isArray(value)) return value.map((each) => words('', each)).join(', ');
  if (value && typeof value === 'object') return Object.values(value).join(' ');
  return value === null || value === undefined ? '' : String(value);
}
