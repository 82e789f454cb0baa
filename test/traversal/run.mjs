// A ring of traversal agents over every transport: ours, and those on the official JavaScript and Python SDKs, of 1.0
// and of 0.3. Each calls the next. Without Python its agents are left out. The last line is `N passed, N failed`.
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const env = {};
for (const [name, folder] of Object.entries({ PYTHON_1_0: 'python', PYTHON_0_3: 'python-0.3' })) {
  const requirements = join(root, 'test/interop', folder, 'requirements.txt');
  const python = await pythonWith(requirements, 'The tests of a ring of agents on several SDKs are');
  if (python !== undefined) env[name] = python;
}
const counts = await runVitest(['--config', 'test/traversal/vitest.config.ts', ...process.argv.slice(2)], env);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
