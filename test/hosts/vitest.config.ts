import { suiteConfig } from '../support/suite-config.js';

/** The suite of the hosts needs packages of its own, which `run.mjs` installs; so it is not among the others. */
const config = suiteConfig(['test/hosts/*.test.ts'], { testTimeout: 120_000, hookTimeout: 120_000 });

export { config as default };
