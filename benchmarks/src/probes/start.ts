import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median } from '../report/summary.js';
import { onCore } from '../run/cores.js';
import { type Measured, prompted } from './probed-server.js';
import { jsonOf, SubjectClient } from './subject-client.js';

const MAIN = fileURLToPath(new URL('../../../examples/agents/dist/main.js', import.meta.url));
const TIMES = 5;

/** Measures the start of a server: a fresh process on a new SQLite file, until its first answer. */
export async function measureStart(core: number | undefined): Promise<Measured> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) times.push(await startOnce(core));
  const range = `${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)} ms in ${TIMES} starts`;
  return { value: median(times) ?? 0, detail: range };
}

async function startOnce(core: number | undefined): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-start-'));
  const [command = '', ...args] = onCore(core, [process.execPath, MAIN]);
  const began = performance.now();
  const server = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'start.db')}` },
  });
  const gone = once(server, 'exit');
  try {
    // The agent at the root takes its time for an answer.
    const client = new SubjectClient(await portIn(createInterface({ input: server.stdout })), '/echo');
    await jsonOf(client.call('SendMessage', prompted('hello')));
    const took = performance.now() - began;
    client.close();
    return took;
  } finally {
    server.kill('SIGKILL');
    await gone;
    await rm(folder, { recursive: true, force: true });
  }
}

async function portIn(lines: AsyncIterable<string>): Promise<number> {
  for await (const line of lines) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('the example server ended before it listened');
}
