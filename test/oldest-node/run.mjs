// Runs tests with the oldest supported version of Node.js, which comes from npm into .cache/ the first time. The last
// line is `N passed, N failed`. Without the package the suite is left out and says so, unless CI is set.
import { countLine, runVitest } from '../../scripts/suites.mjs';
import { oldestNode } from './oldest-node.mjs';

const args = ['--config', 'test/oldest-node/vitest.config.ts', ...process.argv.slice(2)];
const { version, node, output } = await oldestNode();
if (node === undefined) {
  process.stdout.write(`${output}\nThe suite on Node.js ${version} is left out: it could not be had from npm.\n`);
}
const counts = node === undefined ? { passed: 0, failed: process.env.CI ? 1 : 0 } : await runVitest(args, {}, { node });
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
