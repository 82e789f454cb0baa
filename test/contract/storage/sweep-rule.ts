import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FinishedLog, sweep } from '../../../packages/parley/src/store/engine/sweep.js';
import type { Retention, Swept, TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { ALICE, userMessage } from './task-play.js';

// A database that sweeps by its own statements must remove the same rows as the engine.

/** Sequence number of the last record of every task. */
export const LAST = 3;

/** The properties of a task that a sweep reads. */
export interface SweptTask {
  readonly id: string;
  /** Absent for an open task. */
  readonly endedAt: number | undefined;
  /** Number of stored records, which are the last ones. */
  readonly records: number;
  readonly isPending: boolean;
}

/** All rows that a sweep may remove. */
export interface SweptRows {
  readonly tasks: readonly SweptTask[];
  readonly keys: readonly { readonly name: string; readonly expiresAt: number }[];
}

/** A storage whose rows a test can write and read directly. Tasks belong to `ALICE`. */
export interface SweptDatabase {
  readonly storage: TaskStorage;
  readonly now: number;
  /** Empties the database. */
  clear(): Promise<void>;
  /** Sets end, records and pending delivery of existing tasks, which have one record and an idle queue. */
  write(tasks: readonly SweptTask[]): Promise<void>;
  /** Reads the tasks in the order of their ids. */
  tasks(): Promise<readonly SweptTask[]>;
}

/** Generates rows around a time. No two tasks have the same end, because their order would not be defined. */
function rowsAround(now: number): fc.Arbitrary<SweptRows> {
  const task = fc.record({
    endedAt: fc.option(fc.integer({ min: now - 8, max: now + 2 }), { nil: undefined, freq: 6 }),
    records: fc.nat({ max: LAST }),
    isPending: fc.boolean(),
  });
  const keys = fc.array(fc.integer({ min: now - 2, max: now + 2 }), { maxLength: 3 });
  const tasks = fc.uniqueArray(task, { maxLength: 5, selector: ({ endedAt }) => endedAt ?? {} });
  return fc.record({ tasks, keys }).map((found) => ({
    tasks: found.tasks.map(({ endedAt, records, isPending }, at) => {
      // An open task keeps at least its last record.
      return { id: `t${at}`, endedAt, records: endedAt === undefined ? Math.max(1, records) : records, isPending };
    }),
    keys: found.keys.map((expiresAt, at) => ({ name: `k${at}`, expiresAt })),
  }));
}

/** Returns the rows after a sweep of the engine, and its answer. */
function sweptByEngine(rows: SweptRows, retention: Retention, now: number): SweptRows & { readonly swept: Swept } {
  let tasks: (SweptTask & { endedAt: number | undefined; records: number })[] = rows.tasks.map((task) => ({ ...task }));
  let keys = [...rows.keys];
  const endedBefore = (before: number) =>
    tasks
      .filter(({ endedAt }) => endedAt !== undefined && endedAt < before)
      .sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0));
  const swept = sweep(
    {
      keys: {
        sweep: (time, limit) => {
          const old = keys.filter(({ expiresAt }) => expiresAt <= time).sort((a, b) => a.expiresAt - b.expiresAt);
          const gone = old.slice(0, limit);
          keys = keys.filter((key) => !gone.includes(key));
          return gone.length;
        },
      },
      finished: {
        setClockBack: (time) => {
          for (const task of endedBefore(Number.POSITIVE_INFINITY)) task.endedAt = Math.min(task.endedAt ?? 0, time);
        },
        *logs(before): Generator<FinishedLog> {
          for (const task of endedBefore(before)) {
            if (task.records === 0) continue;
            const drop = (limit: number) => {
              const count = Math.min(limit, task.records);
              task.records -= count;
              return count;
            };
            yield { endedAt: task.endedAt ?? 0, isPending: task.isPending, drop };
          }
        },
        sweepTasks: (before, limit) => {
          const gone = endedBefore(before).slice(0, Math.max(0, limit));
          tasks = tasks.filter((task) => !gone.includes(task));
          return gone.length;
        },
      },
    },
    retention,
    now,
  );
  return { tasks, keys, swept };
}

/** The property that a database sweeps like the engine. */
export function sweepRuleProperty(open: () => Promise<SweptDatabase>, numRuns: number): void {
  it('a sweep removes what the engine would remove, in the same order', async () => {
    const { storage, now, ...database } = await open();
    const age = fc.nat({ max: 7 });
    const anyRetention = fc.record({
      taskRetentionMs: age,
      eventLogMs: age,
      limit: fc.integer({ min: 1, max: 12 }),
    });
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(rowsAround(now), anyRetention, async (rows, retention) => {
        await database.clear();
        for (const { id, endedAt } of rows.tasks) {
          const state = endedAt === undefined ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED';
          await storage.create(ALICE, { id, status: { state } });
          await storage.push.putConfig(ALICE, { id: 'hook', taskId: id, url: 'https://example.com' });
        }
        for (const { name, expiresAt } of rows.keys) {
          await storage.keys.remember(ALICE, { key: name, digest: name, ttlMs: expiresAt - now }, userMessage(name));
        }
        await database.write(rows.tasks);
        expect(await database.tasks()).toEqual(rows.tasks);
        const { tasks, keys, swept } = sweptByEngine(rows, retention, now);
        expect(await storage.sweep(retention)).toEqual(swept);
        expect(await database.tasks()).toEqual(tasks);
        const kept = (await storage.owners.keys(ALICE, { limit: 10 })).keys.map(({ key }) => key);
        expect(kept.toSorted()).toEqual(keys.map(({ name }) => name));
        if (swept.more) cut += 1;
      }),
      { numRuns },
    );
    expect(cut).toBeGreaterThan(numRuns / 20);
  }, 120_000);
}
