import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';

const { projects: _, ...test } = base.test ?? {};

/** The tests that judge mutants: those beside the sources, and the contracts of storages without a database. */
export default defineConfig({
  ...base,
  test: {
    ...test,
    include: [
      'packages/parley/src/**/*.test.ts',
      'test/contract/{memory,sqlite,conversation-cost,isolation,owner-data,same-answers,sealed}.test.ts',
    ],
  },
});
