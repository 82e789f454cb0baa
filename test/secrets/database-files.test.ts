import { existsSync, readFileSync } from 'node:fs';
import { afterAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { secretSearchContract } from '../contract/secret-search-contract.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

secretSearchContract('a SQLite file and its log', async () => {
  const path = files.fresh();
  return {
    open: () => files.open(systemClock, { path }),
    // Bytes of pages: text stands in them as it is.
    contents: async () =>
      [path, `${path}-wal`, `${path}-journal`]
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'latin1'))
        .join(''),
  };
});
