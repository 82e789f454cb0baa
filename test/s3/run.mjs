// Tests the store of files in S3 with a real server of its protocol, from the Python package index. The last line is
// `N passed, N failed`. Without Python the suite is left out and says so, unless CI is set.
import { join } from 'node:path';
import { root } from '../../scripts/processes.mjs';
import { pythonWith } from '../../scripts/python-environment.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const python = await pythonWith(join(root, 'test/s3/requirements.txt'), 'The tests of the store of files in S3 are');
const config = ['--config', 'test/s3/vitest.config.ts', ...process.argv.slice(2)];
const counts = python === undefined ? { passed: 0, failed: 0 } : await runVitest(config, { PYTHON_S3: python });
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
