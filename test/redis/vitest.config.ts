import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/redis/*.test.ts']);
