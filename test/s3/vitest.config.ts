import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite needs a server from the Python package index, which `run.mjs` installs; so it is not among the others. */
const config = mergeConfig(base, defineConfig({}));
config.test = {
  ...config.test,
  projects: undefined,
  include: ['test/s3/*.test.ts'],
  exclude: [],
  hookTimeout: 60_000,
  testTimeout: 60_000,
};

export { config as default };
