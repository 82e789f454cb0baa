// Checks the files of `deploy/` against the schemas and grammars of their readers. The packages with these are large,
// so they are installed here the first time. The last line is `N passed, N failed`. Without the packages the suite is
// left out and says so, unless CI is set.
import { join } from 'node:path';
import { hasProgram } from '../../scripts/debian-package.mjs';
import { root, run } from '../../scripts/processes.mjs';
import { installedBeside } from '../../scripts/suite-packages.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const installed = await installedBeside(join(root, 'test/manifests'), 'The suite of the manifests is');
const counts = installed
  ? await runVitest(['--config', 'test/manifests/vitest.config.ts', ...process.argv.slice(2)])
  : { passed: 0, failed: process.env.CI ? 1 : 0 };
const promtool = {
  command: ['promtool', '--version'],
  debianPackage: 'prometheus',
  leftOut: 'The check by promtool is',
};
if (await hasProgram(promtool)) {
  for (const args of [
    ['check', 'rules', 'deploy/prometheus-rules.yaml'],
    ['test', 'rules', 'test/manifests/prometheus-tests.yaml'],
  ]) {
    const { code, output } = await run('promtool', args, { quiet: true });
    counts[code === 0 ? 'passed' : 'failed'] += 1;
    if (code !== 0) process.stdout.write(`promtool ${args.join(' ')} failed:\n${output}\n`);
  }
}
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
