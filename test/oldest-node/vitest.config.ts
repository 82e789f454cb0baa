import { suiteConfig } from '../support/suite-config.js';

/** Slow tests that reach hardly more of Node.js than the storage in SQLite and the rest: in the long form only. */
const SLOW = [
  'test/contract/{isolation,memory,memory-cache,owner-data,remote,same-answers}.test.ts',
  'test/contract/{storage-wrappers,store-backed,task-store-watchers}.test.ts',
  'test/crash/asking.test.ts',
];

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
  // The oldest Node.js cannot parse `using`.
  {},
);

export { config as default };
