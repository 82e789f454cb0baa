import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/console/*.test.ts']);

export { config as default };
