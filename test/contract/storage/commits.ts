import { describe, expect, it } from 'vitest';
import { ALICE, acceptance, LEASE, newTask, TaskPlay, takeClaim, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of concurrent calls, and of closing. */
export function commitsContract(open: OpenStorage): void {
  describe('calls at the same time', () => {
    const tested = useStorage(open);

    it('do not disturb each other: a refused or a failed one fails alone', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 'taken'));
      const play = await TaskPlay.begin(tested, 'running');
      const append = play.write(['TASK_STATE_WORKING']);
      const outcomes = Promise.allSettled(
        Array.from({ length: 60 }, (_, at) => {
          if (at % 3 === 0)
            return storage.accept(acceptance(userMessage('m'), newTask(tested, `t${at}`), { claim: LEASE }));
          if (at % 3 === 1) return storage.accept(acceptance(userMessage('m'), 'unknown'));
          return storage.accept(acceptance(userMessage('m'), newTask(tested, 'taken')));
        }),
      );
      expect(await append).toBe(0);
      for (const [at, outcome] of (await outcomes).entries()) {
        if (at % 3 === 2) expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StorageError' } });
        else expect(outcome).toMatchObject({ value: { kind: at % 3 === 1 ? 'not-found' : 'accepted' } });
      }
      for (let at = 0; at < 60; at += 3) expect(await storage.task(ALICE, `t${at}`)).toMatchObject({ running: true });
      expect(await storage.task(ALICE, 'running')).toMatchObject({ seq: 2, task: play.task });
      await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
      const page = { scope: ALICE, orderBy: 'status' as const, limit: 0, artifacts: false, history: false };
      expect((await storage.tasks(page)).total).toBe(22);
      expect((await storage.tasks({ ...page, states: ['TASK_STATE_SUBMITTED'] })).total).toBe(21);
    });

    it('are counted by commit, where they share one', async () => {
      const { storage } = tested;
      const sizes: number[] = [];
      const leave = storage.watchCommits?.((calls) => sizes.push(calls));
      const accept = (id: string) => storage.accept(acceptance(userMessage('m'), newTask(tested, id)));
      await Promise.all(Array.from({ length: 30 }, (_, at) => accept(`t${at}`)));
      leave?.();
      await accept('unseen');
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(leave === undefined ? 0 : 30);
      expect(sizes.length).toBeLessThan(30);
    });

    it('to one task take effect in the order of the calls', async () => {
      const { storage } = tested;
      const play = await TaskPlay.begin(tested, 't1');
      const first = play.draft(['TASK_STATE_WORKING']);
      const second = play.draft([play.chunk('x', false)]);
      const results = await Promise.all([
        storage.append(first),
        storage.append(second),
        storage.append({ ...second, after: 2, records: [] }),
        storage.release({ ...play.held, attempt: 1 }, 'done'),
        storage.append({ ...second, after: 2, records: [] }),
        storage.delete(ALICE, 't1'),
        storage.accept(acceptance(userMessage('late'), 't1')),
        storage.create(ALICE, newTask(tested, 't1')),
      ]);
      expect(results).toEqual([
        { kind: 'appended', waiting: 0 },
        { kind: 'fenced' },
        { kind: 'appended', waiting: 0 },
        { waiting: 0 },
        { kind: 'fenced' },
        'deleted',
        { kind: 'not-found' },
        true,
      ]);
    });

    it('settle in the order of the calls for one task', async () => {
      const play = await TaskPlay.begin(tested, 't1');
      const settled: number[] = [];
      const drafts = [0, 1, 2, 3, 4].map((at) => play.draft(at === 2 ? ['TASK_STATE_WORKING'] : [], { after: 1 }));
      await Promise.all(drafts.map((draft, at) => tested.storage.append(draft).finally(() => settled.push(at))));
      expect(settled).toEqual([0, 1, 2, 3, 4]);
    });

    it('of many tasks keep every task whole', async () => {
      const { storage } = tested;
      const plays = await Promise.all(
        Array.from({ length: 40 }, async (_, at) => {
          const create = newTask(tested, `t${at}`, { history: [userMessage(`m${at}`)] });
          const outcome = await storage.accept(acceptance(userMessage(`m${at}`), create, { claim: LEASE }));
          const play = new TaskPlay(tested, takeClaim(outcome));
          await play.write(['TASK_STATE_WORKING']);
          for (let chunk = 0; chunk < 5; chunk += 1) await play.write([play.chunk(`${at}.${chunk}`, chunk > 0)]);
          await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
          return play;
        }),
      );
      for (const play of plays) {
        expect(await storage.task(ALICE, play.id)).toMatchObject({ seq: 8, running: false, task: play.task });
      }
    });

    it('see what calls before them have promised', async () => {
      const { storage } = tested;
      for (let at = 0; at < 20; at += 1) {
        await storage.create(ALICE, newTask(tested, `t${at}`));
        const [stored, page, log] = await Promise.all([
          storage.task(ALICE, `t${at}`),
          storage.tasks({ scope: ALICE, orderBy: 'created', limit: 50, artifacts: false, history: false }),
          storage.records({ scope: ALICE, id: `t${at}` }, 0, 1_000_000),
        ]);
        expect(stored?.seq).toBe(1);
        expect(page).toMatchObject({ total: at + 1 });
        expect(log.records).toHaveLength(1);
      }
    });
  });

  describe('closing', () => {
    const tested = useStorage(open);

    it('waits for what was asked before; what comes later is rejected', async () => {
      const { storage } = tested;
      const asked = Array.from({ length: 30 }, (_, at) => storage.create(ALICE, newTask(tested, `t${at}`)));
      const settled: boolean[] = [];
      for (const one of asked) void one.then((done) => settled.push(done));
      await storage.close();
      expect(settled).toEqual(asked.map(() => true));
      const page = { scope: ALICE, orderBy: 'status' as const, limit: 1, artifacts: false, history: false };
      const late = [
        storage.create(ALICE, newTask(tested, 'late')),
        storage.accept(acceptance(userMessage('m'), newTask(tested, 'late'))),
        storage.task(ALICE, 't1'),
        storage.tasks(page),
        storage.records({ scope: ALICE, id: 't1' }, 0, 1),
        storage.renew({ ...LEASE, turns: [] }),
        storage.sweep({ taskRetentionMs: 0, eventLogMs: 0, limit: 1 }),
      ];
      for (const one of await Promise.allSettled(late)) {
        expect(one).toMatchObject({ status: 'rejected', reason: { name: 'StorageError' } });
      }
    });

    it('can be asked for more than once', async () => {
      await Promise.all([tested.storage.close(), tested.storage.close()]);
      await tested.storage.close();
    });
  });
}
