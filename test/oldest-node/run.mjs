// Runs the tests that depend most on Node.js with the oldest supported version: the stores, the engine, odd requests, a
// killed server. Tests of adapters and of storages around another one are left to the newest version. That version comes from npm into .cache/ the first time. The last line is `N passed, N failed`.
// Without the package the suite is left out and says so, unless CI is set.
import { countLine, runVitest } from '../../scripts/suites.mjs';
import { oldestNode } from './oldest-node.mjs';

const FILES = [
  'test/contract',
  '--exclude=test/contract/sealed.test.ts',
  '--exclude=test/contract/conversation-cost.test.ts',
  'test/hardening/framing',
  'packages/parley/src/server',
  'test/matrix/jsonrpc-envelope',
  'test/crash/crash',
  'test/crash/asking',
  'test/crash/push-crash',
];

const { version, node, output } = await oldestNode();
if (node === undefined) {
  process.stdout.write(`${output}\nThe suite on Node.js ${version} is left out: it could not be had from npm.\n`);
}
const counts = node === undefined ? { passed: 0, failed: process.env.CI ? 1 : 0 } : await runVitest(FILES, {}, node);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);
