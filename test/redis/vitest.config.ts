import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite of the storage needs a real Redis, which `run.mjs` installs; so it is not among the others. */
const config = mergeConfig(base, defineConfig({}));
config.test = { ...config.test, projects: undefined, include: ['test/redis/*.test.ts'], exclude: [] };

export { config as default };
