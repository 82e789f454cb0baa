import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/s3/*.test.ts']);
