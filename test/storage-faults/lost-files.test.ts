import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Caller, taskOf, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { checkWhole } from './whole-file.js';

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function freshPath(): string {
  count += 1;
  return join(folder, String(count), 'tasks.db');
}

/** Expects that the server refuses a message as with a failed storage, and logs the reason once. */
async function mustRefuse(server: ServerProcess, caller: Caller, lost: string): Promise<void> {
  expect(await caller.sendRest('quick')).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } });
  expect(await caller.sendRest('quick')).toMatchObject({ status: 503 });
  const ready = await fetch(new URL('/readyz', server.addresses.rest));
  expect([ready.status, await ready.json()]).toMatchObject([503, { notReady: ['storage'] }]);
  const told = server.linesWith('the storage cannot write');
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(`${lost} was removed or replaced`);
}

describe('a server acknowledges nothing that a restart would not find', () => {
  it('while its folder is elsewhere, and goes on when that is back', async () => {
    const path = freshPath();
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const stream = caller.stream('steady 100');
    await until('the stream flows', () => stream.ids.length > 5);
    const [place, elsewhere] = [join(path, '..'), join(folder, 'elsewhere')];
    renameSync(place, elsewhere);
    await mustRefuse(server, caller, path);
    expect(await caller.task(stream.taskId)).toMatchObject({ status: 200 });
    renameSync(elsewhere, place);
    await stream.done;
    expect(stream.ids).toEqual(stream.ids.map((_, at) => at + 1));
    expect(await caller.sendRest('quick')).toMatchObject({ status: 200 });
    await until('the log says that it is over', () => server.linesWith('the storage can write again').length === 1);
    expect(await server.stop()).toBe(0);
    expect((await checkWhole(path)).get(stream.taskId)).toBe('TASK_STATE_COMPLETED');
  });

  it('after its folder was deleted, also if a new one stands there', async () => {
    const path = freshPath();
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    expect(await caller.sendRest('quick')).toMatchObject({ status: 200 });
    rmSync(join(path, '..'), { recursive: true });
    await mustRefuse(server, caller, path);
    mkdirSync(join(path, '..'));
    expect(await caller.sendRest('quick')).toMatchObject({ status: 503 });
    server.endThreads();
    await until('a thread has died', () => server.linesWith('a thread of the storage has died').length > 0);
    expect(await caller.sendRest('quick')).toMatchObject({ status: 503 });
    expect(existsSync(path)).toBe(false);
    expect(await server.stop()).toBe(0);
  });

  it.each(['-wal', '-shm'])(
    'after %s beside its file was deleted, and an orderly stop keeps all else',
    async (name) => {
      const path = freshPath();
      await using server = await ServerProcess.start(path);
      const caller = new Caller(server.addresses);
      const { id } = taskOf(await caller.send('quick'));
      rmSync(`${path}${name}`);
      await mustRefuse(server, caller, `${path}${name}`);
      expect(await server.stop()).toBe(0);
      expect(await checkWhole(path)).toEqual(new Map([[id, 'TASK_STATE_COMPLETED']]));
    },
  );

  it('after its lock was deleted: two servers never write one file', async () => {
    const path = freshPath();
    await using first = await ServerProcess.start(path);
    const caller = new Caller(first.addresses);
    expect(await caller.sendRest('quick')).toMatchObject({ status: 200 });
    rmSync(`${path}-lock`);
    await using second = await ServerProcess.start(path);
    await mustRefuse(first, caller, `${path}-lock`);
    expect(await new Caller(second.addresses).sendRest('quick')).toMatchObject({ status: 200 });
    expect(await first.stop()).toBe(0);
    expect(await new Caller(second.addresses).sendRest('quick')).toMatchObject({ status: 200 });
    expect(await second.stop()).toBe(0);
    expect((await checkWhole(path)).size).toBe(3);
  });
});
