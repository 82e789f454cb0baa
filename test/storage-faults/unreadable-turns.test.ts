import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { Caller, taskOf, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { openFile } from './whole-file.js';

const TASKS = 125;
const UNREADABLE = 120;

it('a server that starts with more turns than it can read runs all others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  const path = join(folder, 'tasks.db');
  try {
    const storage = await openFile(path);
    for (let at = 0; at < TASKS; at += 1) {
      const message = { messageId: `m${at}`, role: 'ROLE_USER' as const, parts: [{ text: 'quick' }] };
      const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: new Date(at).toISOString() };
      await storage.accept({
        scope: { agent: '/', tenant: '', owner: null },
        message,
        caller: { extensions: [], version: '1.0' },
        task: { create: { id: `t${at}`, contextId: `c${at}`, status, history: [message] } },
        waitingLimit: 0,
      });
    }
    await storage.close();
    const db = new DatabaseSync(path);
    db.exec(`UPDATE execution SET message = '{"broken' WHERE task <= ${UNREADABLE}`);
    db.close();

    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const state = async (at: number) => taskOf(await caller.task(`t${at}`)).status.state;
    for (let at = UNREADABLE; at < TASKS; at += 1) {
      await until(`task ${at} ends`, async () => (await state(at)) === 'TASK_STATE_COMPLETED');
    }
    expect(await state(0)).toBe('TASK_STATE_SUBMITTED');
    expect(server.linesWith('a task cannot be read and is set aside')).toHaveLength(100);
    const ready = await fetch(new URL('/readyz', server.addresses.rest));
    expect(await ready.json()).toMatchObject({
      status: 'ready',
      warnings: [`${UNREADABLE} tasks cannot be read: see the log`],
    });
    expect(taskOf(await caller.send('quick')).status.state).toBe('TASK_STATE_COMPLETED');
    // An operator may end what cannot be run.
    const canceled = await caller.call('CancelTask', { id: 't0' });
    expect(canceled.body.result).toMatchObject({ id: 't0', status: { state: 'TASK_STATE_CANCELED' } });
    expect(await server.stop()).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
