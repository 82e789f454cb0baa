import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/cache/*.test.ts']);

export { config as default };
