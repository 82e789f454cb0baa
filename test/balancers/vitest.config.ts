import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/balancers/*.test.ts']);
