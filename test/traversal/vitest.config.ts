import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/traversal/*.test.ts'], { hookTimeout: 120_000, maxWorkers: 1 });

export { config as default };
