import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { median } from '../support/median.js';

const MIB = 1_048_576;
/** 1 GiB in the long form. */
const SIZE = (process.env.TEST_LONG === undefined ? 96 : 1024) * MIB;
/** The target is 64 MiB. Chunks are freed at once and their memory is used again, so that less is enough. */
const MOST_MEMORY = 32 * MIB;
const ROUNDS = process.env.TEST_LONG === undefined ? 5 : 3;
const CHUNK = Buffer.alloc(MIB, 'parley');

/** Sends the bytes with a length. Resolves to the answer. */
async function upload(url: string, size = SIZE): Promise<string> {
  const call = request(url, { method: 'POST', headers: { 'content-length': size } });
  const answered = once(call, 'response');
  for (let sent = 0; sent < size; sent += MIB) if (!call.write(CHUNK)) await once(call, 'drain');
  call.end();
  const [answer] = await answered;
  let text = '';
  for await (const chunk of answer) text += chunk;
  return text;
}

/** Reads a body to its end. Resolves to its bytes. */
async function download(url: string): Promise<number> {
  const [answer] = await once(get(url), 'response');
  let size = 0;
  for await (const chunk of answer) size += chunk.length;
  return size;
}

async function measureTime<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly ms: number; readonly result: Result }> {
  const since = performance.now();
  const result = await work();
  return { ms: performance.now() - since, result };
}

it('a large file goes up and down within a bound of memory, at 60 % of the speed of a bare stream', {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-figure-'));
  const child = fork(new URL('./figure-server.mjs', import.meta.url), [folder]);
  try {
    const [{ files, bare }] = (await once(child, 'message')) as [{ readonly files: string; readonly bare: string }];
    const memory = async () => {
      child.send('memory');
      const [told] = (await once(child, 'message')) as [{ readonly now: number; readonly most: number }];
      return told;
    };
    // The code of both ways is loaded before, because it stays.
    const small = JSON.parse(await upload(files, MIB)) as { readonly url: string };
    await download(small.url);
    const idle = (await memory()).now;
    const first = JSON.parse(await upload(files)) as { readonly url: string; readonly size: number };
    expect(first.size).toBe(SIZE);
    expect(await download(first.url)).toBe(SIZE);
    const { most } = await memory();
    expect(most - idle).toBeLessThan(MOST_MEMORY);
    // The median of pairs, because other load of the machine slows both equally.
    const ratios: { readonly up: number; readonly down: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const bareUp = await measureTime(() => upload(bare));
      const ourUp = await measureTime(() => upload(files));
      const { url } = JSON.parse(ourUp.result) as { readonly url: string };
      const bareDown = await measureTime(() => download(bare));
      const ourDown = await measureTime(() => download(url));
      await fetch(url, { method: 'DELETE' });
      ratios.push({ up: bareUp.ms / ourUp.ms, down: bareDown.ms / ourDown.ms });
    }
    process.stdout.write(`${JSON.stringify({ mib: (most - idle) / MIB, ratios })}\n`);
    expect(median(ratios.map(({ up }) => up))).toBeGreaterThan(0.6);
    expect(median(ratios.map(({ down }) => down))).toBeGreaterThan(0.6);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
