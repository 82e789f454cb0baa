import { defineConfig } from 'vitest/config';
import root from '../../vitest.config.js';

/** The suite needs Python, which `run.mjs` provides; so it is not among the others. */
const config = defineConfig({
  ...root,
  test: {
    include: ['test/client-peers/*.test.ts'],
    setupFiles: [new URL('../support/watch-outputs.ts', import.meta.url).pathname],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});

export { config as default };
