// A ring of traversal agents over every transport: ours, one on the official JavaScript SDK, one on the official Python
// SDK. Each calls the next. Without Python its agent is left out. The last line is `N passed, N failed`.
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const requirements = join(root, 'test/interop/python/requirements.txt');
const python = await pythonWith(requirements, 'The tests of a ring of agents on several SDKs are');
const env = python === undefined ? {} : { PYTHON_1_0: python };
const counts = await runVitest(['--config', 'test/traversal/vitest.config.ts', ...process.argv.slice(2)], env);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
