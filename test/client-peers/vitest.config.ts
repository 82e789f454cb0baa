import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/client-peers/*.test.ts'], { hookTimeout: 120_000 });
