import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/s3/*.test.ts']);

export { config as default };
