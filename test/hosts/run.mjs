// Plays one matrix of scenarios on every host, each of them real and from npm. The packages are many and large, so they
// are installed here the first time and not with the repository. `run.mjs express` plays it on one host. The last line
// is `N passed, N failed`. Without the packages the suite is left out and says so, unless CI is set.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram } from '../../scripts/debian-package.mjs';
import { root, runNpm } from '../../scripts/processes.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const folder = join(root, 'test/hosts');
const stampFile = join(folder, 'node_modules/.parley-installed');
const lock = readFileSync(join(folder, 'package-lock.json'));
const stamp = createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');

if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  // Not `npm ci`: it refuses where a registry lacks packages for other platforms.
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts=false', '--loglevel=error'];
  const { code, output } = await runNpm(['install', '--prefix', folder, ...flags], { quiet: true });
  if (code !== 0) leaveOut(output);
  writeFileSync(stampFile, stamp);
}

const files = ['--config', 'test/hosts/vitest.config.ts', ...process.argv.slice(2)];
const nginx = { command: ['nginx', '-v'], debianPackage: 'nginx-light', leftOut: 'The tests behind nginx are' };
if (!(await hasProgram(nginx))) files.push('--exclude=test/hosts/nginx.test.ts');

const chromium = {
  command: ['chromium', '--version'],
  debianPackage: 'chromium',
  leftOut: 'The client in a browser is',
};
const env = (await hasProgram(chromium)) ? { CHROMIUM: '1' } : {};

const counts = await runVitest(files, env);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

function leaveOut(output) {
  process.stdout.write(`${output}\nThe suite of the hosts is left out: their packages could not be had from npm.\n`);
  const failed = process.env.CI ? 1 : 0;
  process.stdout.write(`${countLine({ passed: 0, failed })}\n`);
  process.exit(failed);
}
