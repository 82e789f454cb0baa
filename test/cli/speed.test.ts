import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { EmptyFolder, PARLEY } from './parley.js';
import { RecordingAgent } from './recording-agent.js';

/** Limit for `card get`, as a multiple of a bare script. The documents promise 1.3; the rest is for a busy machine. */
const MOST = 1.6;
const ROUNDS = 15;
const TELLS_CPU = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('CPU ' + (user + system)); });",
)}`;

const run = promisify(execFile);

/** Returns the CPU time of a whole process, in ms. */
async function cpuMs(args: readonly string[], home: string): Promise<number> {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: home };
  const { stderr } = await run(process.execPath, ['--import', TELLS_CPU, ...args], { env });
  return Number(/CPU (\d+)/.exec(stderr)?.[1]) / 1000;
}

it('`parley card get` costs little more than a bare script that fetches once', { timeout: 120_000 }, async () => {
  using folder = new EmptyFolder();
  await using agent = await RecordingAgent.start();
  const bare = join(folder.path, 'bare.mjs');
  const url = `${agent.url}/.well-known/agent-card.json`;
  writeFileSync(bare, `const r = await fetch('${url}'); console.log(JSON.stringify(await r.json(), undefined, 2));`);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const least = await cpuMs([bare], folder.path);
    ratios.push((await cpuMs([PARLEY, 'card', 'get', agent.url, '-o', 'json'], folder.path)) / least);
  }
  // The median of the pairs, because other processes slow only some of them.
  expect(ratios.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)]).toBeLessThan(MOST);
});
