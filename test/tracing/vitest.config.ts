import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/tracing/*.test.ts']);

export { config as default };
