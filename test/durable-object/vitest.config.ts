import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The suite of Durable Objects needs packages of its own, which `run.mjs` installs; so it is not among the others. */
const config = defineConfig({
  test: {
    include: ['test/durable-object/*.test.ts'],
    setupFiles: [fileURLToPath(new URL('../support/watch-outputs.ts', import.meta.url))],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});

export { config as default };
