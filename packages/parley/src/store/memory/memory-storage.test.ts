import { randomUUID } from 'node:crypto';
import { getHeapSnapshot } from 'node:v8';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../model/task.js';
import { LogRecord } from '../../task/log-record.js';
import { TaskBuilder } from '../../task/task-builder.js';
import type { Scope } from '../task-key.js';
import { MemoryStorage } from './memory-storage.js';

const clock = {
  now: () => 1_767_225_600_000,
  monotonic: () => 0,
  after: () => () => {},
  soon: () => {},
  hold: <T>(work: Promise<T>) => work,
};
const scope: Scope = { agent: 'a', tenant: '', owner: null };
const lease = { node: 'n', leaseMs: 10_000 };
const timestamp = '2026-01-01T00:00:00.000Z';

function taskOf(id: string): Task {
  return { id, contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED', timestamp } };
}

/** True if a string in the memory of this process has a text twice in a row. */
async function isTwiceInMemory(text: string): Promise<boolean> {
  let end = '';
  for await (const chunk of getHeapSnapshot()) {
    const strings = `${end}${chunk}`;
    if (strings.split(text).slice(1, -1).includes('')) return true;
    end = strings.slice(-2 * text.length);
  }
  return false;
}

/** Writes chunks of `size` characters that replace each other, each with a snapshot, and ends the task if asked to. */
async function write(storage: MemoryStorage, id: string, options: { chunks: number; size: number; ends: boolean }) {
  const create = taskOf(id);
  const message = { messageId: id, role: 'ROLE_USER' as const, parts: [{ text: id }] };
  const caller = { extensions: [], version: '1.0' };
  await storage.accept({ scope, message, caller, task: { create }, claim: lease, waitingLimit: 0 });
  const builder = new TaskBuilder(create);
  const append = (record: LogRecord) => {
    builder.apply(record);
    return storage.append({
      key: { scope, id },
      authority: 1,
      after: record.seq - 1,
      records: [record],
      head: builder.head,
      snapshot: builder.view(),
    });
  };
  for (let seq = 2; seq < 2 + options.chunks; seq += 1) {
    const artifact = { artifactId: 'x', parts: [{ text: `${seq % 10}`.repeat(options.size) }] };
    await append(new LogRecord(seq, 1, { artifactUpdate: { taskId: id, contextId: 'c', artifact } }));
  }
  const status = { state: 'TASK_STATE_COMPLETED' as const, timestamp };
  const end = new LogRecord(options.chunks + 2, 1, { statusUpdate: { taskId: id, contextId: 'c', status } });
  if (options.ends) await append(end);
  return builder.view();
}

describe('a storage in memory', () => {
  it('answers without waiting for anything but promises', async () => {
    const storage = new MemoryStorage({ clock });
    let settled = false;
    void storage.create(scope, taskOf('t')).then(() => {
      settled = true;
    });
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    expect(settled).toBe(true);
  });

  it('drops the logs of the tasks that ended first when they take too much; the tasks stay', async () => {
    const storage = new MemoryStorage({ clock, eventLogBytes: 25_000 });
    // The packed log contains the first artifact, which was replaced. It refers to the task for the second one.
    for (const id of ['1', '2', '3']) await write(storage, id, { chunks: 2, size: 10_000, ends: true });
    const kept = await Promise.all(['1', '2', '3'].map((id) => storage.records({ scope, id }, 0, 1_000_000)));
    expect(kept.map(({ records, floor }) => [records.length, floor])).toEqual([
      [0, 5],
      [4, 1],
      [4, 1],
    ]);
    expect((await storage.task(scope, '1'))?.task.artifacts?.[0]?.parts).toEqual([{ text: '3'.repeat(10_000) }]);
    await storage.delete(scope, '2');
    await write(storage, '4', { chunks: 2, size: 10_000, ends: true });
    expect((await storage.records({ scope, id: '3' }, 0, 1_000_000)).floor).toBe(1);
  });

  it('keeps a bounded stretch of the log of a task that goes on and on', async () => {
    const storage = new MemoryStorage({ clock });
    const task = await write(storage, 't', { chunks: 40, size: 1_000_000, ends: false });
    const { records, floor, last } = await storage.records({ scope, id: 't' }, 0, Number.MAX_SAFE_INTEGER);
    expect(last).toBe(41);
    expect(floor).toBeGreaterThan(20);
    expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 42 - floor }, (_, at) => floor + at));
    expect((await storage.task(scope, 't'))?.task).toEqual(task);
  });

  it('keeps so many tasks: finished ones go, oldest first, and those that go on stay', async () => {
    const storage = new MemoryStorage({ clock, maxTasks: 3 });
    await write(storage, 'open', { chunks: 1, size: 1, ends: false });
    for (const id of ['1', '2', '3', '4']) await write(storage, id, { chunks: 1, size: 1, ends: true });
    const query = { scope, orderBy: 'created' as const, limit: 9, artifacts: false, history: false };
    const { tasks, total } = await storage.tasks(query);
    expect([tasks.map(({ task }) => task.id), total]).toEqual([['open', '4', '3'], 3]);
    expect(await storage.task(scope, '1')).toBeUndefined();
    expect((await storage.records({ scope, id: '1' }, 0, 9)).last).toBe(0);
  });

  it('finds a new task that takes the place of the only other one of its owner', async () => {
    const storage = new MemoryStorage({ clock, maxTasks: 1 });
    for (const id of ['1', '2']) await write(storage, id, { chunks: 1, size: 1, ends: true });
    expect((await storage.task(scope, '2'))?.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await storage.create(scope, taskOf('3'))).toBe(true);
    expect((await storage.task(scope, '3'))?.task.id).toBe('3');
    expect(await storage.task(scope, '2')).toBeUndefined();
  });

  it('refuses new tasks while none of those that it keeps has ended, and takes them when one has', async () => {
    const storage = new MemoryStorage({ clock, maxTasks: 2 });
    for (const id of ['1', '2']) await write(storage, id, { chunks: 1, size: 1, ends: false });
    for (const full of [write(storage, '3', { chunks: 1, size: 1, ends: true }), storage.create(scope, taskOf('4'))]) {
      await expect(full).rejects.toMatchObject({
        name: 'StorageError',
        message: expect.stringContaining('full of tasks that have not ended (2 tasks'),
      });
    }
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'go on' }] };
    const follows = { scope, message, caller: { extensions: [], version: '1.0' }, task: { id: '1' }, waitingLimit: 1 };
    expect(await storage.accept(follows)).toMatchObject({ kind: 'accepted' });
    expect(await storage.delete(scope, '1')).toBe('running');
    const status = { state: 'TASK_STATE_CANCELED' as const, timestamp };
    await storage.append({
      key: { scope, id: '1' },
      authority: 'force',
      after: 2,
      records: [new LogRecord(3, 1, { statusUpdate: { taskId: '1', contextId: 'c', status } })],
      head: { status, metadata: undefined },
      snapshot: { ...taskOf('1'), status },
    });
    await write(storage, '3', { chunks: 1, size: 1, ends: true });
    expect(await storage.task(scope, '1')).toBeUndefined();
    expect((await storage.task(scope, '3'))?.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('keeps so many bytes, logs included, and drops nothing of a task that goes on', async () => {
    const storage = new MemoryStorage({ clock, maxBytes: 1_000_000 });
    for (let at = 0; at < 20; at += 1) await write(storage, `${at}`, { chunks: 1, size: 100_000, ends: true });
    const query = { scope, orderBy: 'created' as const, limit: 99, artifacts: false, history: false };
    const kept = (await storage.tasks(query)).total;
    expect(kept).toBeGreaterThan(2);
    expect(kept).toBeLessThan(10);
    const grown = await write(storage, 'grows', { chunks: 30, size: 100_000, ends: false });
    expect((await storage.tasks(query)).total).toBe(1);
    expect((await storage.task(scope, 'grows'))?.task).toEqual(grown);
    await expect(storage.create(scope, taskOf('new'))).rejects.toThrow('full of tasks that have not ended');
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'go on' }] };
    const follows = {
      scope,
      message,
      caller: { extensions: [], version: '1.0' },
      task: { id: 'grows' },
      waitingLimit: 1,
    };
    await expect(storage.accept(follows)).rejects.toThrow('full of tasks that have not ended');
  });

  it('counts what leaves: the room of deleted and swept tasks is free again', async () => {
    const storage = new MemoryStorage({ clock, maxTasks: 2, maxBytes: 500_000 });
    for (let round = 0; round < 50; round += 1) {
      const ends = round % 2 === 0;
      await write(storage, `t${round}`, { chunks: 1, size: 50_000, ends });
      if (ends) await storage.sweep({ taskRetentionMs: -1, eventLogMs: -1, limit: 99 });
      else {
        await storage.release({ key: { scope, id: `t${round}` }, turn: 1, epoch: 1, attempt: 1 }, 'done');
        expect(await storage.delete(scope, `t${round}`)).toBe('deleted');
      }
    }
    expect(await storage.create(scope, taskOf('last'))).toBe(true);
  });

  it('leaves no text of an erased task in memory, also of one that was packed with others', async () => {
    const storage = new MemoryStorage({ clock });
    const owned = { ...scope, owner: 'o' };
    const half = randomUUID();
    for (let at = 0; at < 200; at += 1) {
      const name = at % 10 === 0 ? `${half}${half}` : 'kept';
      const task = { ...taskOf(`${at}`), status: { state: 'TASK_STATE_COMPLETED' as const, timestamp } };
      await storage.create(at % 10 === 0 ? owned : scope, { ...task, metadata: { name } });
    }
    expect(await isTwiceInMemory(half)).toBe(true);
    await storage.owners.erase(owned, 99);
    await storage.owners.scrub();
    expect(await isTwiceInMemory(half)).toBe(false);
    expect((await storage.task(scope, '101'))?.task.metadata).toEqual({ name: 'kept' });
  });

  it('gives a large finished task out again without parsing it again', async () => {
    const storage = new MemoryStorage({ clock });
    await write(storage, 't', { chunks: 1, size: 100_000, ends: true });
    const first = await storage.task(scope, 't');
    expect((await storage.task(scope, 't'))?.task).toBe(first?.task);
  });
});
