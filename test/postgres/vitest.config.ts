import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/postgres/*.test.ts']);

export { config as default };
