import { suiteConfig } from '../support/suite-config.js';

export default suiteConfig(['test/chaos/runs/*.test.ts'], { disableConsoleIntercept: true });
