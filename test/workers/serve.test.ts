import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { EmptyFolder } from '../cli/parley.js';
import { testWorkers } from '../support/workers.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());
let files = 0;

describe('parley serve --workers with SQLite', () => {
  testWorkers(async () => `sqlite:${join(folder.path, String(files++), 'parley.db')}`, { of: 'one server' });
});

describe('parley serve --workers in memory', () => {
  testWorkers(async () => 'memory:', { of: 'memory' });
});
