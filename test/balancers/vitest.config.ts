import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/balancers/*.test.ts']);

export { config as default };
