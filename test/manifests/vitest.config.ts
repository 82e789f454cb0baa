import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite needs packages that `run.mjs` installs beside it; so it is not among the others. */
const config = mergeConfig(base, defineConfig({}));
config.test = { ...config.test, include: ['test/manifests/*.test.ts'], exclude: ['**/node_modules/**'] };

export { config as default };
