// The table peer × way × case. A cell is 'right', a known fault of a framework or of the protocol that must still show
// itself in the same way, or the reason why the framework cannot do it.
import { JAVASCRIPT_TABLE } from './javascript-table.mjs';
import { PYTHON_TABLE } from './python-table.mjs';

export const table = { ...PYTHON_TABLE, ...JAVASCRIPT_TABLE };
