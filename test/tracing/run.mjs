// Follows one request through agents, replicas, a crash, a restart and webhooks, by the spans that real exporters send.
// The last line is `N passed, N failed`. Without the database the suite is left out and says so, unless CI is set.
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const postgres = {
  command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'],
  debianPackage: 'postgresql',
  leftOut: 'The tests of traces are',
};
const counts = (await hasProgram(postgres))
  ? await runVitest(['--config', 'test/tracing/vitest.config.ts', ...process.argv.slice(2)])
  : { passed: 0, failed: 0 };
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
