import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/traversal/*.test.ts'], { hookTimeout: 120_000, maxWorkers: 1 });
