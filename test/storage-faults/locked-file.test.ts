import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Answer, Caller, taskOf, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { checkWhole } from './whole-file.js';

/** Holds the lock on a file in a process of its own until it is killed. */
const HOLDER = `
  const db = new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 20_000 });
  db.exec('BEGIN IMMEDIATE');
  process.stdout.write('held');
  process.stdin.resume().on('end', () => process.exit());`;

it('a file that another process has locked refuses all calls after one wait, and goes on when it is free', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  const path = join(folder, 'tasks.db');
  try {
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const early = taskOf(await caller.send('quick'));
    const stream = caller.stream('steady 200');
    await until('the stream flows', () => stream.ids.length > 5);
    const holder = spawn(process.execPath, ['-e', HOLDER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');

    const began = performance.now();
    const answers: Answer[] = await Promise.all(Array.from({ length: 30 }, () => caller.sendRest('quick')));
    const tookMs = performance.now() - began;
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, retryAfter: '1', body: { error: { status: 'UNAVAILABLE' } } });
    }
    // One wait for the first call and one for all others, not one for each.
    expect(tookMs).toBeLessThan(10_000);
    expect(taskOf(await caller.task(early.id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await caller.call('ListTasks', {})).body.result).toMatchObject({ totalSize: 2 });

    const freed = once(holder, 'exit');
    holder.kill('SIGKILL');
    await freed;
    await until('a message is taken again', async () => (await caller.sendRest('quick')).status === 200);
    await stream.done;
    expect(stream).toMatchObject({ ended: true, ids: stream.ids.map((_, at) => at + 1) });
    await until('the log says that it is over', () => server.linesWith('the storage can write again').length > 0);
    expect(server.linesWith('the storage cannot write')).toHaveLength(1);
    expect(server.linesWith('the storage cannot write')[0]).toContain('another process holds a lock on it');
    expect(await server.stop()).toBe(0);
    expect((await checkWhole(path)).get(stream.taskId)).toBe('TASK_STATE_COMPLETED');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
