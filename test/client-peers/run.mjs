// Plays one matrix of scenarios with our client against servers on the official SDKs. Each server is a process with a
// real port. Without Python or Go their servers are left out. The last line is `N passed, N failed`.
import { join } from 'node:path';
import { goProgramOf } from '../../scripts/go-program.mjs';
import { root } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const requirements = (folder) => join(root, 'test/interop', folder, 'requirements.txt');
const [newest, line03, go] = await Promise.all([
  pythonWith(requirements('python'), 'The tests of the client against the Python SDK are'),
  pythonWith(requirements('python-0.3'), 'The tests of the client against the 0.3 line of the Python SDK are'),
  goProgramOf(join(root, 'test/client-peers/servers/go'), 'The tests of the client against the Go SDK are'),
]);
const env = {
  ...(newest !== undefined && { PYTHON_1_0: newest }),
  ...(line03 !== undefined && { PYTHON_0_3: line03 }),
  ...(go !== undefined && { GO_1_0: go }),
};
const counts = await runVitest(['--config', 'test/client-peers/vitest.config.ts', ...process.argv.slice(2)], env);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
