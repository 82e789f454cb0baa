import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/manifests/*.test.ts']);

export { config as default };
