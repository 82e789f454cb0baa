import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The runs take long and need databases, so they are not among the others. `run.mjs` starts them. */
const config = mergeConfig(base, defineConfig({}));
config.test = {
  ...config.test,
  projects: undefined,
  include: ['test/chaos/runs/*.test.ts'],
  exclude: [],
  disableConsoleIntercept: true,
};

export { config as default };
