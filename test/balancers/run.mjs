// Tests the configurations of the balancers in `deploy/` with the real programs, in front of real replicas on a real
// PostgreSQL. The last line is `N passed, N failed`. Without a program the suite is left out and says so, unless CI is
// set.
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const leftOut = 'The tests of the balancers are';
const programs = [
  { command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb || command -v initdb'], debianPackage: 'postgresql' },
  { command: ['haproxy', '-v'], debianPackage: 'haproxy' },
  { command: ['nginx', '-v'], debianPackage: 'nginx-light' },
];
let isComplete = true;
for (const program of programs) isComplete &&= await hasProgram({ ...program, leftOut });
const args = ['--config', 'test/balancers/vitest.config.ts', ...process.argv.slice(2)];
const counts = isComplete ? await runVitest(args) : { passed: 0, failed: 0 };
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
