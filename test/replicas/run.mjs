// Tests replicas on PostgreSQL and on Redis: real servers, and processes of an agent that are killed and drained. The
// last line is `N passed, N failed`. Without the servers the suite is left out and says so, unless CI is set.
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const postgres = {
  command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'],
  debianPackage: 'postgresql',
  leftOut: 'The tests of replicas are',
};
const redis = {
  command: ['redis-server', '--version'],
  debianPackage: 'redis-server',
  leftOut: 'The tests of replicas are',
};
const counts =
  (await hasProgram(postgres)) && (await hasProgram(redis))
    ? await runVitest(['--config', 'test/replicas/vitest.config.ts', ...process.argv.slice(2)])
    : { passed: 0, failed: 0 };
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
