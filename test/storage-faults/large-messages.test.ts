import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Caller, taskOf } from './calls.js';
import { ServerProcess } from './server-process.js';

const LARGE = process.env.TEST_LONG === undefined ? 20 : 32;

it(`${LARGE} messages of 8 MB at once are taken in within bounded memory, and small calls beside them are answered soon`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  try {
    await using server = await ServerProcess.start(join(folder, 'tasks.db'));
    const caller = new Caller(server.addresses);
    for (let call = 0; call < 20; call += 1) await caller.send('quick');
    const waits: number[] = [];
    let answered = 0;
    const growth = await server.growthDuring(async () => {
      const text = `quick ${'x'.repeat(8_000_000)}`;
      const large = Array.from({ length: LARGE }, async () => {
        const answer = await caller.sendRest(text);
        answered += 1;
        return answer;
      });
      while (answered < LARGE) {
        const began = performance.now();
        expect(taskOf(await caller.send('quick')).status.state).toBe('TASK_STATE_COMPLETED');
        waits.push(performance.now() - began);
      }
      for (const answer of await Promise.all(large)) {
        if (answer.status === 429) expect(answer.retryAfter).toBe('1');
        else expect(taskOf(answer).status.state).toBe('TASK_STATE_COMPLETED');
      }
    });
    process.stdout.write(
      `${Math.round(growth)} MiB, ${waits.length} small calls, ${Math.round(Math.max(...waits))} ms\n`,
    );
    // The bounds leave room for a busy machine: without them, 32 messages take 2 GB and, on an idle one, 10 s.
    expect(growth).toBeLessThan(700);
    expect(Math.max(...waits)).toBeLessThan(8_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
