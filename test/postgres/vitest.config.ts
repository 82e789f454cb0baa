import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite of PostgreSQL needs a real server, which `run.mjs` installs; so it is not among the others. */
const config = mergeConfig(base, defineConfig({}));
config.test = {
  ...config.test,
  projects: undefined,
  include: ['test/postgres/*.test.ts'],
  exclude: [],
  testTimeout: 60_000,
};

export { config as default };
