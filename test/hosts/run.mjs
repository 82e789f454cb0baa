// Plays one matrix of scenarios on every host, each of them real and from npm. The packages are many and large, so they
// are installed here the first time and not with the repository. `run.mjs express` plays it on one host. The last line
// is `N passed, N failed`. Without the packages the suite is left out and says so, unless CI is set.
import { join } from 'node:path';
import { hasChromium, hasProgram } from '../../scripts/debian-package.mjs';
import { root } from '../../scripts/processes.mjs';
import { installedBeside } from '../../scripts/suite-packages.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

if (!(await installedBeside(join(root, 'test/hosts'), 'The suite of the hosts is'))) {
  process.stdout.write(`${countLine({ passed: 0, failed: process.env.CI ? 1 : 0 })}\n`);
  process.exit(process.env.CI ? 1 : 0);
}

const files = ['--config', 'test/hosts/vitest.config.ts', ...process.argv.slice(2)];
const nginx = { command: ['nginx', '-v'], debianPackage: 'nginx-light', leftOut: 'The tests behind nginx are' };
if (!(await hasProgram(nginx))) files.push('--exclude=test/hosts/nginx.test.ts');

const env = (await hasChromium('The client in a browser is')) ? { CHROMIUM: '1' } : {};

const counts = await runVitest(files, env);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
