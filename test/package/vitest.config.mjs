import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Without the aliases of the other tests: this suite checks the package, not the sources.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*-check.ts'],
    // Jest takes long to install; `test/testing-kit` shows the kit with the test runner of Node.js.
    exclude: process.env.TEST_LONG === undefined ? ['jest-check.ts'] : [],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
