import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/react-chat/*.test.ts']);

export { config as default };
