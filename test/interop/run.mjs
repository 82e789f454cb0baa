// Runs the suites of the official Python clients: `node test/interop/run.mjs [pytest arguments]`. Results are in
// .cache/ as JUnit files. The last line is `N passed, N failed`. Without Python the suites are left out and say so.
// With CI set, a suite that cannot run is a failure.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';
import { countJunit, countLine, sum } from '../../scripts/suites.mjs';

const SUITES = ['python', 'python-0.3'];

const results = [];
for (const name of SUITES) {
  const folder = join(root, 'test/interop', name);
  const python = await pythonWith(join(folder, 'requirements.txt'), `The tests of test/interop/${name} are`);
  if (python !== undefined) results.push(await runSuite(name, folder, python));
}
for (const line of results.flatMap(({ failures }) => failures)) console.log(line);
const counts = sum(results);
console.log(countLine(counts));
process.exit(counts.failed === 0 ? 0 : 1);

async function runSuite(name, folder, python) {
  const report = join(root, '.cache', `interop-${name}.xml`);
  rmSync(report, { force: true });
  const args = ['-m', 'pytest', '-c', join(folder, 'pytest.ini'), `--junitxml=${report}`, ...process.argv.slice(2)];
  const env = { NODE: process.execPath, PYTHONDONTWRITEBYTECODE: '1' };
  const { code } = await run(python, [...args, folder], { env });
  return countJunit(`test/interop/${name}`, existsSync(report) ? readFileSync(report, 'utf8') : '', code);
}
