import { describe, expect, it } from 'vitest';
import { call, completes, idOf, ids, message, Seen, Sent, send, tick } from '../../test/engine.js';
import { offBy, Replicas, stepwise, works } from '../../test/replicas.js';
import { StorageError } from '../errors/storage-error.js';
import { ServedTasks } from './served-tasks.js';

const PATIENCE_MS = 10_000;
const LOOK_MS = 5_000;
const ANN = call({ user: { id: 'ann' } });

describe('while the storage of several processes is away', () => {
  it.each(['fails', 'hangs'] as const)('streams stay open, and go on after it: the storage %s', async (how) => {
    const replicas = new Replicas();
    const agent = stepwise();
    const [one, other] = await replicas.two(agent.execute);
    const here = new Seen(one.handler.sendStreamingMessage({ message: message() }, call()));
    await replicas.clock.settle();
    const there = new Seen(other.handler.subscribeToTask({ id: idOf(here) }, call()));
    await replicas.clock.settle();
    agent.step();
    await replicas.clock.advance(10);
    for (const { client } of [one, other]) client[how === 'fails' ? 'isFailing' : 'isCutOff'] = true;
    agent.step();
    await replicas.clock.advance(3);
    // The storage cannot commit the end of the turn for longer than callers wait.
    agent.step(true);
    await replicas.clock.advance(12_000);
    expect([here.ended, there.ended]).toEqual([false, false]);
    for (const { client } of [one, other]) client[how === 'fails' ? 'isFailing' : 'isCutOff'] = false;
    await replicas.clock.advance(40_000);
    expect([here.error, there.error]).toEqual([undefined, undefined]);
    expect([here.ended, there.ended]).toEqual([true, true]);
    expect(there.seqs).toEqual(here.seqs.slice(-there.seqs.length));
    expect(here.seqs).toEqual(here.seqs.map((_, at) => at + 1));
  });

  it('a stream that has to catch up waits for the storage', async () => {
    const replicas = new Replicas();
    const agent = stepwise();
    const [one, other] = await replicas.two(agent.execute);
    send(one.handler);
    await replicas.clock.settle();
    const [id = ''] = await ids(one.handler);
    const there = new Seen(other.handler.subscribeToTask({ id }, call()));
    await replicas.clock.settle();
    const { records } = replicas.memory;
    replicas.memory.records = () => Promise.reject(new StorageError('The connection is lost'));
    agent.step();
    await replicas.clock.advance(30_000);
    expect([there.ended, there.error]).toEqual([false, undefined]);
    replicas.memory.records = records;
    agent.step(true);
    await replicas.clock.advance(10_000);
    // The artifact was sent before its last chunk was known, so it is sent again at its end.
    expect(there.shown).toEqual(['task WORKING', 'artifact a', 'artifact a', 'COMPLETED']);
    expect(there.error).toBeUndefined();
  });

  it('a stream that has shown nothing yet is refused', async () => {
    const replicas = new Replicas();
    const agent = stepwise();
    const [one, other] = await replicas.two(agent.execute);
    send(one.handler);
    await replicas.clock.settle();
    const [id = ''] = await ids(one.handler);
    const { records } = replicas.memory;
    replicas.memory.records = () => Promise.reject(new StorageError('The connection is lost'));
    const late = new Seen(other.handler.subscribeToTask({ id }, call({ lastEventId: '1' })));
    await replicas.clock.settle();
    expect(late.error).toBeInstanceOf(StorageError);
    replicas.memory.records = records;
  });

  it.each(['fails', 'hangs'] as const)(
    'callers who wait for a turn in another process are answered in time: the storage %s',
    async (how) => {
      const replicas = new Replicas();
      const [one, other] = await replicas.two(works);
      send(one.handler, {}, { returnImmediately: true });
      await replicas.clock.settle();
      const [taskId = ''] = await ids(one.handler);
      const waiting = send(other.handler, { messageId: 'm2', taskId });
      await replicas.clock.settle();
      other.client[how === 'fails' ? 'isFailing' : 'isCutOff'] = true;
      await replicas.clock.advance(2 * PATIENCE_MS + LOOK_MS);
      expect(waiting.error).toMatchObject({ code: 'UNAVAILABLE' });
      expect(other.handler.load.watchedTasks).toBe(0);
    },
  );

  it('a repeat that waits for the first is answered in time', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(works);
    new Sent(one.handler.sendMessage({ message: message() }, ANN));
    await replicas.clock.settle();
    const repeat = new Sent(other.handler.sendMessage({ message: message() }, ANN));
    await replicas.clock.settle();
    other.client.isFailing = true;
    await replicas.clock.advance(2 * PATIENCE_MS + LOOK_MS);
    expect(repeat.error).toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a message whose acceptance was not heard', () => {
  it('is asked about again, and processed once', async () => {
    const replicas = new Replicas();
    const [one] = await replicas.two(completes);
    const accept = replicas.memory.accept.bind(replicas.memory);
    let lost = 1;
    replicas.memory.accept = async (acceptance) => {
      const outcome = await accept(acceptance);
      if (lost === 0) return outcome;
      lost -= 1;
      throw new StorageError('The connection ended before the answer came');
    };
    const sent = send(one.handler);
    await replicas.clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await ids(one.handler)).toHaveLength(1);
  });

  it('is asked about again, where an agent had decided to make a task of it', async () => {
    const replicas = new Replicas();
    const [one] = await replicas.two({ replies: 'either', execute: completes });
    const accept = replicas.memory.accept.bind(replicas.memory);
    let lost = 1;
    replicas.memory.accept = async (acceptance) => {
      const outcome = await accept(acceptance);
      if (lost === 0) return outcome;
      lost -= 1;
      throw new StorageError('The connection ended before the answer came');
    };
    const sent = send(one.handler);
    await replicas.clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await ids(one.handler)).toHaveLength(1);
  });

  it('is processed once, although the answer comes too late for the lease', async () => {
    const replicas = new Replicas();
    let runs = 0;
    const one = await replicas.boot((_context, events) => {
      runs += 1;
      return events.complete();
    });
    const accept = replicas.memory.accept.bind(replicas.memory);
    replicas.memory.accept = async (acceptance) => {
      const outcome = await accept(acceptance);
      await tick(replicas.clock, 14_500);
      return outcome;
    };
    const sent = send(one.handler);
    await replicas.clock.advance(PATIENCE_MS);
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    await replicas.clock.advance(30_000);
    expect((await one.handler.listTasks({ status: 'TASK_STATE_COMPLETED' }, call())).totalSize).toBe(1);
    expect(runs).toBe(1);
  });

  it.each(['task', 'either'] as const)(
    'is processed once, although turns were stopped before it is asked about again (replies: %s)',
    async (replies) => {
      const replicas = new Replicas();
      let runs = 0;
      const one = await replicas.boot({
        replies,
        execute(context, events) {
          if (context.text === 'work') return works(context, events);
          runs += 1;
          return events.complete();
        },
      });
      send(one.handler, { messageId: 'm0', parts: [{ text: 'work' }] });
      await replicas.clock.settle();
      const { memory } = replicas;
      const [accept, renew] = [memory.accept.bind(memory), memory.renew.bind(memory)];
      memory.renew = () => Promise.reject(new StorageError('The connection is lost'));
      await replicas.clock.advance(13_500);
      memory.accept = async (acceptance) => {
        memory.accept = accept;
        await accept(acceptance);
        await new Promise<void>((resolve) => void replicas.clock.after(1_000, resolve));
        throw new StorageError('The connection ended before the answer came');
      };
      const sent = send(one.handler);
      await replicas.clock.advance(1_000);
      memory.renew = renew;
      expect(one.logger.lines.map(({ message: text }) => text)).toContain(
        'leases could not be renewed in time, their turns are stopped',
      );
      await replicas.clock.advance(40_000);
      expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect(runs).toBe(1);
    },
  );
});

describe('a caller who waits for a message that is taken in', () => {
  async function cutShort(user: typeof ANN) {
    const replicas = new Replicas();
    const [one] = await replicas.two(works);
    const sent = new Sent(one.handler.sendMessage({ message: message() }, user));
    await replicas.clock.settle();
    const closing = one.handler.close();
    await replicas.clock.settle();
    await closing;
    return sent.error as { code: string; details: { retryAfterMs?: number; metadata?: { taskId?: string } } };
  }

  it('may repeat it if that leads to the same task', async () => {
    const { code, details } = await cutShort(ANN);
    expect([code, details.retryAfterMs]).toEqual(['UNAVAILABLE', 2_000]);
    expect(details.metadata?.taskId).toBeDefined();
  });

  it('is not asked to repeat it if that would start a second task', async () => {
    const { code, details } = await cutShort(call());
    expect([code, details.retryAfterMs]).toEqual(['UNAVAILABLE', undefined]);
    expect(details.metadata?.taskId).toBeDefined();
  });
});

describe('a process whose clock is wrong', () => {
  it('writes the times of the storage also from outside of turns', async () => {
    const replicas = new Replicas();
    const one = await replicas.boot(completes, { clockOff: 300_000 });
    const tasks = new ServedTasks({
      storage: one.storage,
      scope: { agent: 'test', tenant: '', owner: null },
      clock: offBy(replicas.clock, 300_000),
      ids: { random: () => 'r', ordered: () => 'o' },
      engine: one.handler,
      logger: one.logger,
    });
    const task = await tasks.create();
    expect(task.status.timestamp).toBe(new Date(replicas.clock.now()).toISOString());
  });

  it('does not start before it knows the time of the storage', async () => {
    const replicas = new Replicas();
    const { heartbeat } = replicas.memory;
    replicas.memory.heartbeat = () => Promise.reject(new StorageError('The connection is lost'));
    await expect(replicas.boot(completes, { clockOff: 300_000 })).rejects.toThrow(StorageError);
    replicas.memory.heartbeat = heartbeat;
    const one = await replicas.boot(completes, { clockOff: 300_000 });
    const sent = send(one.handler);
    await replicas.clock.settle();
    expect(sent.task?.status.timestamp).toBe(new Date(replicas.clock.now()).toISOString());
  });
});

it('tasks that wait too long end after an outage, which the log names', async () => {
  const replicas = new Replicas();
  const { clock, memory } = replicas;
  const limits = { waitingExpiryMs: 60_000, expiryCheckMs: 1_000 };
  const one = await replicas.boot((_context, events) => events.inputRequired('what?'), { limits });
  const sent = send(one.handler);
  await clock.settle();
  const { abandoned } = memory;
  memory.abandoned = () => Promise.reject(new StorageError('The connection is lost'));
  await clock.advance(65_000);
  const faults = one.logger.lines.filter(({ message: text }) => text === 'expiring waiting tasks failed');
  expect(faults.length).toBeGreaterThan(60);
  expect(faults[0]?.fields).toEqual({ error: new StorageError('The connection is lost') });
  memory.abandoned = abandoned;
  await clock.advance(2_000);
  const { id = '' } = sent.task ?? {};
  expect((await one.handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_FAILED');
});
