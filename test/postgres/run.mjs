// Tests the storage in PostgreSQL with a real server: the contract of all storages, poolers, TLS, outages. The last
// line is `N passed, N failed`. Without the server the suite is left out and says so, unless CI is set.
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const postgres = {
  command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'],
  debianPackage: 'postgresql',
  leftOut: 'The tests of the storage in PostgreSQL are',
};
const pgbouncer = {
  command: ['pgbouncer', '--version'],
  debianPackage: 'pgbouncer',
  leftOut: 'The tests of the storage in PostgreSQL behind a pooler are',
};
const args = ['--config', 'test/postgres/vitest.config.ts', ...process.argv.slice(2)];
const counts = (await hasProgram(postgres))
  ? await runVitest((await hasProgram(pgbouncer)) ? args : [...args, '--exclude', '**/pooler*.test.ts'])
  : { passed: 0, failed: 0 };
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
