import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite needs programs that `run.mjs` installs; so it is not among the others. */
const config = mergeConfig(base, defineConfig({}));
config.test = {
  ...config.test,
  projects: undefined,
  include: ['test/balancers/*.test.ts'],
  exclude: ['**/node_modules/**'],
};

export { config as default };
