import { suiteConfig } from '../support/suite-config.js';

const config = suiteConfig(['test/chaos/runs/*.test.ts'], { disableConsoleIntercept: true });

export { config as default };
