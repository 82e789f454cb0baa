import { mergeConfig, type ViteUserConfig } from 'vitest/config';
import base, { OWN_PROCESS } from '../../vitest.config.js';

/**
 * The configuration of a suite that its own `run.mjs` starts: the settings of all tests, and its own files alone.
 * `more` comes before the settings. Without `imports`, Vite transforms the modules.
 */
export function suiteConfig(
  include: string[],
  more: ViteUserConfig['test'] = {},
  imports: ViteUserConfig['test'] = OWN_PROCESS,
): ViteUserConfig {
  // The projects are the files of all other tests.
  const { projects: _, ...settings } = base.test ?? {};
  return mergeConfig({ ...base, test: { ...settings, include, exclude: [], ...more } }, { test: imports });
}
