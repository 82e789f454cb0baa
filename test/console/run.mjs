// Tests the console in a real browser. The last line is `N passed, N failed`. Without Chromium the suite is left out and
// says so, unless CI is set. Screenshots of every page go to .cache/console-screenshots.
import { build } from '../../scripts/build.mjs';
import { hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const chromium = {
  command: ['chromium', '--version'],
  debianPackage: 'chromium',
  leftOut: 'The tests of the console in a browser are',
};
const args = ['--config', 'test/console/vitest.config.ts', ...process.argv.slice(2)];
let counts = { passed: 0, failed: 0 };
if (await hasProgram(chromium)) {
  await build(['packages/parley', 'packages/console']);
  counts = await runVitest(args);
}
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
