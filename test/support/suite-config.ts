import { defineConfig, type ViteUserConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/**
 * The configuration of a suite that its own `run.mjs` starts: the settings of all tests, and its own files alone.
 * `more` comes before the settings.
 */
export function suiteConfig(include: string[], more: ViteUserConfig['test'] = {}): ViteUserConfig {
  // The projects are the files of all other tests.
  const { projects: _, ...settings } = base.test ?? {};
  return defineConfig({ ...base, test: { ...settings, include, exclude: [], ...more } });
}
