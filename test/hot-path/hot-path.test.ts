import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

/**
 * The cost of one call over the exchange, with tasks in memory: bytes on the heap, and promises. Counts are the same on
 * every machine, unlike times. They belong to the Node.js of the repository.
 *
 * After a change that costs more on purpose, or saves much, run this file and copy the printed figures. The commit
 * gives the reason.
 */
const FIGURES: Readonly<Record<string, Cost>> = {
  'SendMessage → Message': { bytes: 22_680, promises: 18 },
  'SendMessage → Message, with everything around it': { bytes: 25_049, promises: 22 },
  'SendMessage → task': { bytes: 44_931, promises: 31 },
  'a streamed chunk': { bytes: 2_982, promises: 6.1 },
  GetTask: { bytes: 17_800, promises: 19 },
};

/**
 * Ten runs differ by less than 0.1 %. The rest is room for small changes, but not for another copy of the message,
 * which is long for this reason. The number of promises is exact: one more layer of `async` makes two more.
 */
const BYTES_ALLOWED = 1.1;

interface Cost {
  readonly bytes: number;
  readonly promises: number;
}

// Without the optimizing compilers, whose moment to start varies, every run allocates the same.
const FLAGS = ['--expose-gc', '--no-opt', '--no-maglev', '--min-semi-space-size=256', '--max-semi-space-size=256'];

let measured: Readonly<Record<string, Cost>>;
beforeAll(async () => {
  const script = fileURLToPath(new URL('measure-paths.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, script]);
  measured = JSON.parse(stdout) as typeof measured;
}, 120_000);

describe('the hot path', () => {
  it.each(Object.entries(FIGURES))('%s allocates no more than it did', (name, { bytes, promises }) => {
    const found = measured[name];
    if (found === undefined) throw new Error(`${name} was not measured`);
    const limits = `${name}: ${Math.round(found.bytes)} bytes (was ${bytes}), ${found.promises} promises (was ${promises})`;
    expect(found.bytes, limits).toBeLessThanOrEqual(bytes * BYTES_ALLOWED);
    expect(found.promises, limits).toBeLessThanOrEqual(promises);
    process.stdout.write(`${limits}\n`);
  });
});
