import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/cache/*.test.ts']);
