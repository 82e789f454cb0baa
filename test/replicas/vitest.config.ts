import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/replicas/*.test.ts']);

export { config as default };
