import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/site/*.test.ts']);

export { config as default };
