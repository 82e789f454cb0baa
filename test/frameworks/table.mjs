// The table peer × way × case. Each cell is one of these:
// - 'right';
// - a known fault of the framework or of the protocol, which must show itself in the same way each time;
// - the reason why the framework does not offer the case.
import { JAVASCRIPT_TABLE } from './javascript-table.mjs';
import { PYTHON_TABLE } from './python-table.mjs';

export const table = { ...PYTHON_TABLE, ...JAVASCRIPT_TABLE };
