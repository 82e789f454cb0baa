import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/redis/*.test.ts']);

export { config as default };
