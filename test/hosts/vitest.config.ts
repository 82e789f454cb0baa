import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import repository, { OWN_PROCESS } from '../../vitest.config.js';

/** The suite of the hosts needs packages of its own, which `run.mjs` installs; so it is not among the others. */
const config = defineConfig({
  // Packages beside the core take its sources, as the tests do: two copies would not know each other's errors.
  resolve: repository.resolve ?? {},
  test: {
    include: ['test/hosts/*.test.ts'],
    ...OWN_PROCESS,
    setupFiles: [fileURLToPath(new URL('../support/watch-outputs.ts', import.meta.url)), ...OWN_PROCESS.setupFiles],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});

export { config as default };
