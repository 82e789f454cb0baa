// The oldest Node.js that the library supports, from npm, kept under .cache/.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runNpm } from '../../scripts/processes.mjs';

/** Gets it where it is missing. Without a `node` it could not be had, and `output` says why. */
export async function oldestNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'packages/parley/package.json'), 'utf8'));
  const version = `${engines.node.replace('>=', '')}.0`;
  const folder = join(root, '.cache', `node-${version}`);
  const node = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(node)) return { version, node, output: '' };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }\n');
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts=false', '--loglevel=error'];
  const { code, output } = await runNpm(['install', '--prefix', folder, ...flags, `node@${version}`], { quiet: true });
  return code === 0 && existsSync(node) ? { version, node, output } : { version, node: undefined, output };
}
