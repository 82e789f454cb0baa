import { suiteConfig } from '../support/suite-config.js';

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
    ],
  },
);

export { config as default };
