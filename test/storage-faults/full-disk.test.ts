import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Answer, Caller, taskOf, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { SmallDisk } from './small-disk.js';
import { checkWhole, openFile } from './whole-file.js';

if (SmallDisk.missing)
  process.stdout.write(`left out, for want of a disk to fill (root can mount one): ${SmallDisk.missing}\n`);

describe.skipIf(SmallDisk.missing)('a disk that is full', () => {
  it('refuses new messages until there is room again, and loses nothing', async () => {
    using disk = SmallDisk.of(32);
    const path = join(disk.path, 'data', 'tasks.db');
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const early = taskOf(await caller.send('quick'));
    const asked = taskOf(await caller.send('ask'));
    const streams = [1, 2, 3].flatMap(() => [caller.stream('open'), caller.streamRest('open')]);
    await until('every stream flows', () => streams.every(({ ids }) => ids.length > 5));

    // Clients that continue after refusals. All acknowledged messages must be stored at the end.
    const promised: string[] = [];
    const odd: Answer[] = [];
    let loading = true;
    const load = [1, 2, 3, 4].map(async (client) => {
      while (loading) {
        const answer = await (client % 2 === 0 ? caller.send('quick') : caller.sendRest('quick'));
        const refused = answer.status === 503 || 'error' in answer.body;
        if (!refused) promised.push(taskOf(answer).id);
        else if (answer.retryAfter !== '1') odd.push(answer);
      }
    });
    await until('the load is under way', () => promised.length > 8);
    disk.fill();
    await until('a message is refused', async () => 'error' in (await caller.send('quick')).body);

    const rest = await caller.sendRest('quick');
    expect(rest).toMatchObject({ status: 503, retryAfter: '1', body: { error: { status: 'UNAVAILABLE' } } });
    const rpc = await caller.send('quick');
    expect(rpc).toMatchObject({ status: 200, retryAfter: '1', body: { error: { code: -32603 } } });
    expect(JSON.stringify(rpc.body)).toContain('google.rpc.RetryInfo');
    expect((await caller.send('answer', asked.id)).body).toHaveProperty('error');
    // Stored tasks are readable, and nothing is half-written.
    expect(taskOf(await caller.task(early.id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect(taskOf(await caller.task(asked.id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const listed = await caller.call('ListTasks', { status: 'TASK_STATE_INPUT_REQUIRED' });
    expect(listed.body.result).toMatchObject({ totalSize: 1, tasks: [{ id: asked.id }] });
    expect(streams.map(({ ended }) => ended)).toEqual(streams.map(() => undefined));
    const reached = streams.map(({ ids }) => ids.length);
    expect(await caller.task(early.id)).toMatchObject({ status: 200 });
    expect(streams.map(({ ids }) => ids.length)).toEqual(reached);

    disk.free();
    await until('a message is taken again', async () => !('error' in (await caller.send('quick')).body));
    expect(taskOf(await caller.send('answer', asked.id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect(taskOf(await caller.send('close')).status.state).toBe('TASK_STATE_COMPLETED');
    await Promise.all(streams.map(({ done }) => done));
    loading = false;
    await Promise.all(load);
    for (const { ended, ids, states } of streams) {
      expect(ended).toBe(true);
      expect(ids).toEqual(ids.map((_, at) => at + 1));
      expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
    }
    expect(odd).toEqual([]);

    await until('the log says that it is over', () => server.linesWith('the storage can write again').length > 0);
    expect(server.linesWith('the storage cannot write')).toHaveLength(1);
    expect(server.linesWith('the storage cannot write')[0]).toContain('there is no space left on its disk: make room');
    expect(server.linesWith('the storage can write again')).toHaveLength(1);
    expect(server.log.trim().split('\n')).toHaveLength(2);
    expect(await server.stop()).toBe(0);

    const states = await checkWhole(path);
    for (const id of [early.id, ...promised, ...streams.map(({ taskId }) => taskId)]) {
      expect(states.get(id)).toBe('TASK_STATE_COMPLETED');
    }
  }, 120_000);

  it('does not keep a server from stopping; what it ran is told its end at the next start', async () => {
    using disk = SmallDisk.of(16);
    const path = join(disk.path, 'tasks.db');
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const stream = caller.stream('steady 100000');
    const blocked = caller.sendRest('steady 100000');
    await until('the stream flows', () => stream.ids.length > 5);
    disk.fill();
    await until('a message is refused', async () => 'error' in (await caller.send('quick')).body);
    const seen = stream.ids.length;
    expect(await server.stop()).toBe(0);
    await stream.done;
    await blocked.catch(() => {});
    disk.free();
    await using next = await ServerProcess.start(path);
    const again = new Caller(next.addresses);
    expect(taskOf(await again.task(stream.taskId)).status.state).toBe('TASK_STATE_FAILED');
    expect(await next.stop()).toBe(0);
    const states = await checkWhole(path);
    expect(new Set(states.values())).toEqual(new Set(['TASK_STATE_FAILED']));
    const storage = await openFile(path);
    const { last } = await storage.records({ scope: { agent: '/', tenant: '', owner: null }, id: stream.taskId }, 0, 1);
    expect(last).toBeGreaterThanOrEqual(seen);
    await storage.close();
  }, 120_000);
});
