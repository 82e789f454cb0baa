// `npm run bench:workers`: builds, then measures the CPU time of answers by the number of workers.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';
import { CommandFailed, main, root, runOwn } from './processes.mjs';

await main(async () => {
  await ensureInstalled();
  await build();
  const script = join(root, 'benchmarks/dist/workers/main.js');
  if (!existsSync(script)) throw new CommandFailed('There are no benchmarks to run');
  return (await runOwn([script, ...process.argv.slice(2)])).code;
});
