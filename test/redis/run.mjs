// Tests the storage in Redis with real servers: one server, and a cluster. They are killed, frozen, filled and
// restarted. The last line is `N passed, N failed`. Without the server the suite is left out and says so, unless CI is
// set.
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const redis = {
  command: ['redis-server', '--version'],
  debianPackage: 'redis-server',
  leftOut: 'The tests of the storage in Redis are',
};
const counts = (await hasProgram(redis))
  ? await runVitest(['--config', 'test/redis/vitest.config.ts', ...process.argv.slice(2)])
  : { passed: 0, failed: 0 };
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
