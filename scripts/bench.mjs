// `npm run bench` and `bench:` with the name of a suite: builds, then runs these benchmarks with the arguments given.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { CommandFailed, main, root, runOwn } from './processes.mjs';

/** Suites beside the first one, each in a folder of its own. */
const SUITES = ['cluster', 'growth', 'workers'];

await main(async () => {
  await ensureInstalled();
  const args = process.argv.slice(2);
  const folder = SUITES.includes(args[0]) ? args.shift() : '';
  const script = join(root, 'benchmarks/dist', folder, 'main.js');
  if (!args.includes('--help') || !existsSync(script)) await build();
  if (!existsSync(script)) throw new CommandFailed('There are no benchmarks to run');
  return (await runOwn([script, ...args])).code;
});
