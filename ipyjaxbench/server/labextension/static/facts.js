/** What is known around a measurement. */

import { moment, revision, versions } from './format.js';
import { phaseBar } from './phases.js';

/** @param {Measured} it @returns {[string, Child][]} */
export function factsOf(it) {
  return [
    ['measured', it.when ? moment(it.when) : 'saved in this notebook'],
    ['figure', `${it.statistic} ${it.range}`],
    ['first call', phaseBar(it.first_call)],
    ['versions', versions(it.frameworks, it.python)],
    ['device', it.devices.join(', ')],
    ['git', revision(it.revision)],
    ['clock', it.clock !== 'elapsed' && it.clock],
  ];
}
