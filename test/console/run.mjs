// Tests the console in a real browser. The last line is `N passed, N failed`. Without Chromium only the tests of its
// server run, unless CI is set. Screenshots of every page go to .cache/console-screenshots.
import { build } from '../../scripts/build.mjs';
import { hasChromium, hasProgram } from '../../scripts/debian-package.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const viewer = {
  command: ['chromium', '--version'],
  debianPackage: 'chromium',
  leftOut: 'The tests of PDF in the console are',
};
const args = ['--config', 'test/console/vitest.config.ts', ...process.argv.slice(2)];
if (!(await hasChromium('The tests of the console in a browser are'))) args.push('test/console/serving.test.ts');
else if (!(await hasProgram(viewer))) args.push('--exclude=test/console/files.test.ts');
await build(['packages/console', 'packages/cli']);
const counts = await runVitest(args);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
