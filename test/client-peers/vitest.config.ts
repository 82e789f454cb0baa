import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/client-peers/*.test.ts'], { hookTimeout: 120_000 });

export { config as default };
