// Runs what leans on Node.js most (the stores, the engine, one row of the matrix, a killed server) on the oldest version that the
// library supports. That version comes from npm into .cache/ the first time. The last line is `N passed, N failed`; without
// the package the suite says so and is left out, unless CI is set.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runNpm } from '../../scripts/processes.mjs';
import { countLine, runVitest } from '../../scripts/suites.mjs';

const FILES = ['test/contract', 'packages/parley/src/server', 'test/matrix/jsonrpc-envelope', 'test/crash'];

const { engines } = JSON.parse(readFileSync(join(root, 'packages/parley/package.json'), 'utf8'));
const version = `${engines.node.replace('>=', '')}.0`;
const folder = join(root, '.cache', `node-${version}`);
const node = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');

if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }\n');
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts=false', '--loglevel=error'];
  const { code, output } = await runNpm(['install', '--prefix', folder, ...flags, `node@${version}`], { quiet: true });
  if (code !== 0 || !existsSync(node)) leaveOut(output);
}

const counts = await runVitest(FILES, {}, node);
process.stdout.write(`${countLine(counts)}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

function leaveOut(output) {
  process.stdout.write(`${output}\nThe suite on Node.js ${version} is left out: it could not be had from npm.\n`);
  const failed = process.env.CI ? 1 : 0;
  process.stdout.write(`${countLine({ passed: 0, failed })}\n`);
  process.exit(failed);
}
