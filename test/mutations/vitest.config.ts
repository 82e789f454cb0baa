import { suiteConfig } from '../support/suite-config.js';

/** The tests that judge mutants: those beside the sources, and the contracts of storages without a database. */
const config = suiteConfig(
  [
    'packages/parley/src/**/*.test.ts',
    'test/contract/{memory,sqlite,conversation-cost,isolation,owner-data,same-answers,sealed}.test.ts',
  ],
  {},
  // Some of them load modules again.
  {},
);

export { config as default };
