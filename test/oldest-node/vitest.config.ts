import { suiteConfig } from '../support/suite-config.js';

/** Slow tests that reach no other part of Node.js than the rest: in the long form only. */
const SLOW = ['test/contract/{owner-data,isolation}.test.ts', 'test/crash/asking.test.ts'];

/**
 * The tests that depend most on Node.js: the stores, the engine, odd requests, a killed server. Tests of adapters, of
 * storages around another one and of pure rules are left to the newest version.
 */
const config = suiteConfig(
  [
    'test/contract/*.test.ts',
    'test/hardening/framing.test.ts',
    'packages/parley/src/server/**/*.test.ts',
    'test/matrix/jsonrpc-envelope.test.ts',
    'test/crash/{crash,asking,push-crash}.test.ts',
  ],
  {
    exclude: [
      'test/contract/{sealed,conversation-cost,sqlite-mortal-thread}.test.ts',
      'packages/parley/src/server/engine-invariants.test.ts',
      ...(process.env.TEST_LONG === undefined ? SLOW : []),
    ],
  },
);

export { config as default };
