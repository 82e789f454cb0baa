import { type DurableObjectStorage, durableObjectStorage, type ObjectContext } from 'parley-a2a-durable-object';
import { describe, expect, it } from 'vitest';
import {
  ALICE,
  acceptance,
  claimsOf,
  LEASE,
  newTask,
  only,
  TaskPlay,
  userMessage,
} from '../../contract/storage/task-play.js';
import { type OpenStorage, useStorage } from '../../contract/storage/tested-storage.js';

/** Longer than the limit of a row. Each of its parts would end within a surrogate pair. */
const LARGE = `x${'😀'.repeat(1_300_000)}`;
const BOB = { ...ALICE, owner: 'bob' };
const REQUEST = { ...LEASE, agents: ['test'], limit: 10 };

/** Tests what only a storage in a Durable Object does, or does in another way. */
export function objectContract(context: ObjectContext, open: OpenStorage): void {
  const { sql } = context.storage;
  const count = (table: string) =>
    (sql.exec(`SELECT count(*) AS count FROM ${table}`).toArray() as { count: number }[])[0]?.count;

  describe('values longer than a row', () => {
    const tested = useStorage(open);

    it('are read unchanged, and deleted with their rows', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const message = { ...userMessage('large'), parts: [{ text: LARGE }] };
      await storage.accept(acceptance(message, 't1'));
      expect(count('long_text')).toBe(6);
      await play.write([play.chunk(LARGE, false), play.status('TASK_STATE_WORKING', { message })]);
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
      const { records } = await storage.records(play.key, 0, 100_000_000);
      expect(records.map(({ text }) => text.length > 2_000_000)).toEqual([false, true, true]);
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
      expect(only(await claimsOf(storage, REQUEST)).message).toEqual(message);
      tested.clock.pass(LEASE.leaseMs);
      expect(await storage.delete(ALICE, 't1')).toBe('deleted');
      expect(count('long_text')).toBe(0);
    });

    it('are deleted when they are replaced', async () => {
      const { storage } = tested;
      const status = {
        state: 'TASK_STATE_WORKING' as const,
        message: { ...userMessage('w'), parts: [{ text: LARGE }] },
      };
      await storage.create(ALICE, newTask(tested, 't1', { status }));
      expect(count('long_text')).toBe(12);
      const stored = await storage.task(ALICE, 't1');
      if (stored === undefined) throw new Error('The task is not there');
      const play = new TaskPlay(tested, stored);
      await play.write(['TASK_STATE_WORKING'], { authority: 'idle' });
      // The record of the task still contains the message.
      expect(count('long_text')).toBe(6);
      expect((await storage.task(ALICE, 't1'))?.task).toEqual(play.task);
    });
  });

  describe('the log of a long-running task', () => {
    const tested = useStorage(open);

    it('loses its older half, while the task stays complete', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      for (let at = 0; at < 5; at += 1) {
        await play.write([play.chunk('x'.repeat(4_000_000), false)], { withSnapshot: true });
      }
      const { floor, records, last } = await tested.storage.records(play.key, 0, 100_000_000);
      expect([floor, records.map(({ seq }) => seq), last]).toEqual([5, [5, 6], 6]);
      expect((await tested.storage.task(ALICE, 't1'))?.task).toEqual(play.task);
    });
  });

  describe('a restarted object', () => {
    const tested = useStorage(open);
    const reopen = () => durableObjectStorage(context, { clock: tested.clock });

    it('has no lease: a turn can be claimed at once, and its earlier holder is fenced', async () => {
      const play = await TaskPlay.begin(tested, 't1', { pushConfig: { id: 'hook', url: 'https://example.com' } });
      await tested.storage.push.claim({ ...REQUEST, maxBytes: 1_000 });
      const storage = reopen();
      expect(await storage.task(ALICE, 't1')).toMatchObject({ running: false, heldTurn: 0 });
      expect((await storage.push.claim({ ...REQUEST, maxBytes: 1_000 })).claims).toHaveLength(1);
      expect(only(await claimsOf(storage, REQUEST))).toMatchObject({ turn: 1, attempt: 2, epoch: 2 });
      expect(await storage.append(play.draft(['TASK_STATE_WORKING']))).toEqual({ kind: 'fenced' });
    });

    it('refuses the tables of a newer version, and changes nothing', async () => {
      await TaskPlay.begin(tested, 't1');
      sql.exec("UPDATE meta SET value = 999 WHERE name = 'schema'");
      expect(reopen).toThrow('has tables of version 999, and this package knows 2: deploy a newer one');
      expect(await tested.storage.task(ALICE, 't1')).toMatchObject({ running: true });
    });
  });

  describe('the data of a user', () => {
    const tested = useStorage(open);

    it('are erased in steps with their dependent rows, while those of others are kept', async () => {
      const { storage } = tested;
      const kept = await TaskPlay.begin(tested, 'kept', { scope: BOB });
      for (const id of ['a', 'b', 'c']) {
        await TaskPlay.begin(tested, id, { pushConfig: { id: 'hook', url: 'https://example.com' } });
      }
      for (const key of ['k1', 'k2'])
        await storage.keys.remember(ALICE, { key, digest: 'd', ttlMs: 9 }, userMessage(key));
      expect(await storage.owners.scopes({ owner: 'alice' })).toEqual([ALICE]);
      const first = await storage.owners.keys(ALICE, { limit: 1 });
      expect(first).toMatchObject({
        keys: [{ key: 'k1', taskId: null, reply: JSON.stringify(userMessage('k1')) }],
        next: 'k1',
      });
      expect((await storage.owners.keys(ALICE, { cursor: 'k1', limit: 9 })).keys.map(({ key }) => key)).toEqual(['k2']);
      expect(await storage.owners.erase(ALICE, 2)).toEqual({ tasks: 2, keys: 0, isGone: false });
      expect(await storage.owners.erase(ALICE, 2)).toEqual({ tasks: 1, keys: 0, isGone: false });
      expect(await storage.owners.erase(ALICE, 2)).toEqual({ tasks: 0, keys: 2, isGone: false });
      expect(await storage.owners.erase(ALICE, 2)).toEqual({ tasks: 0, keys: 0, isGone: true });
      const tables = ['task', 'record', 'turn', 'push_queue', 'snapshot', 'message_key', 'scope'];
      expect(tables.map((table) => [table, count(table)])).toEqual([
        ['task', 1],
        ['record', 1],
        ['turn', 1],
        ['push_queue', 0],
        ['snapshot', 0],
        ['message_key', 0],
        ['scope', 1],
      ]);
      expect((await storage.task(BOB, 'kept'))?.task).toEqual(kept.task);
    });
  });

  describe('a row that cannot be read', () => {
    const tested = useStorage(open);
    const broken = '{"broken';

    it('excludes its turn from claims, while other turns are claimed', async () => {
      const { storage } = tested;
      for (const id of ['t1', 't2']) await storage.accept(acceptance(userMessage(id), newTask(tested, id)));
      sql.exec("UPDATE turn SET message = ? WHERE task = (SELECT pk FROM task WHERE id = 't1')", broken);
      expect(only(await claimsOf(storage, { ...REQUEST, limit: 1 }))).toMatchObject({ message: userMessage('t2') });
      expect(await claimsOf(storage, REQUEST)).toEqual([]);
      expect(await storage.check()).toMatchObject({ waiting: 1, unreadable: 1 });
    });

    it('refuses a message that would be claimed at once', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      sql.exec('UPDATE record SET event = ?', broken);
      const more = acceptance(userMessage('more'), 't1', { claim: LEASE });
      await expect(storage.accept(more)).rejects.toMatchObject({ name: 'UnreadableTaskError' });
      expect(count('turn')).toBe(0);
    });

    it('ends the lease of its own turn only', async () => {
      const { storage } = tested;
      const plays = [await TaskPlay.begin(tested, 't1'), await TaskPlay.begin(tested, 't2')];
      sql.exec("UPDATE turn SET cancel = ? WHERE task = (SELECT pk FROM task WHERE id = 't1')", broken);
      const turns = plays.map(({ key, turn, epoch }) => ({ key, turn, epoch }));
      const renewals = await storage.renew({ ...LEASE, turns });
      expect(renewals).toEqual([{ held: false }, { held: true }]);
    });
  });

  describe('an alarm that cannot be set', () => {
    const tested = useStorage(open);

    it('fails the next call with the reason, before it writes', async () => {
      const refusing: ObjectContext = {
        storage: {
          sql,
          transactionSync: (work) => context.storage.transactionSync(work),
          setAlarm: async () => {
            throw new Error('no handler');
          },
        },
      };
      const storage: DurableObjectStorage = durableObjectStorage(refusing, { clock: tested.clock });
      await storage.accept(acceptance(userMessage('m1'), newTask(tested, 't1')));
      await expect(storage.accept(acceptance(userMessage('m2'), newTask(tested, 't2')))).rejects.toMatchObject({
        name: 'StorageError',
        message: 'The alarm cannot be set. The class of the Durable Object needs a method alarm',
      });
      expect(await storage.task(ALICE, 't2')).toBeUndefined();
    });
  });
}
