import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { UnreadableTaskError } from '../../packages/parley/src/errors/unreadable-task-error.js';
import type { LogFields } from '../../packages/parley/src/telemetry/logger.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { ALICE, acceptance, claimsOf, LEASE, newTask, TaskPlay, takeClaim, userMessage } from './storage/task-play.js';
import { StorageClock, type Tested } from './storage/tested-storage.js';

const PAGE = 4096;
const files = new SqliteFiles();
afterAll(() => files.remove());
const clock = new StorageClock();

/** Makes a file with a task that waits for its caller, and whose long text has its own pages. */
async function fileWithLongTask(): Promise<string> {
  const path = files.fresh();
  const storage = await files.open(clock, { path });
  const play = await TaskPlay.begin({ clock, storage }, 'long');
  await play.write([play.chunk('z'.repeat(4 * PAGE))]);
  await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1, withSnapshot: true });
  await storage.close();
  return path;
}

/** Damages the pages of the long text. The returned function repairs them. */
function damage(path: string): () => void {
  const bytes = readFileSync(path);
  const filled = Buffer.alloc(PAGE - 4, 'z');
  const pages: number[] = [];
  for (let at = 0; at < bytes.length; at += PAGE) {
    if (bytes.subarray(at + 4, at + PAGE).equals(filled)) pages.push(at);
  }
  expect(pages.length).toBeGreaterThan(0);
  const write = (page: (at: number) => Buffer) => {
    const file = openSync(path, 'r+');
    for (const at of pages) writeSync(file, page(at), 0, 4, at);
    closeSync(file);
  };
  write(() => Buffer.alloc(4, 0x5a));
  return () => write((at) => bytes.subarray(at, at + 4));
}

describe('a task that cannot be read', () => {
  it('takes no message in: the next one, when it can be read again, is the next turn', async () => {
    const path = await fileWithLongTask();
    const mend = damage(path);
    const storage = await files.open(clock, { path });
    const more = acceptance(userMessage('more'), 'long', { claim: LEASE });
    await expect(storage.accept(more)).rejects.toThrow(UnreadableTaskError);
    await storage.close();
    mend();
    const mended = await files.open(clock, { path });
    expect(await claimsOf(mended, { ...LEASE, agents: ['test'], limit: 9 })).toEqual([]);
    const claim = takeClaim(await mended.accept(more));
    expect(claim).toMatchObject({ attempt: 1, message: userMessage('more') });
    await mended.close();
  });

  it('keeps nobody from the turns of others, and waits for its own', async () => {
    const path = await fileWithLongTask();
    const before = await files.open(clock, { path });
    await before.accept(acceptance(userMessage('more'), 'long'));
    // Rows beside a damaged one cannot be read either.
    for (let at = 0; at < 40; at += 1) await before.create(ALICE, newTask({ clock, storage: before }, `between ${at}`));
    await before.accept(acceptance(userMessage('m'), newTask({ clock, storage: before }, 'other')));
    await before.close();
    const mend = damage(path);
    const lines: { message: string; fields: LogFields | undefined }[] = [];
    const logger = { ...silentLogger, error: (message: string, fields?: LogFields) => lines.push({ message, fields }) };
    const storage = await files.open(clock, { path, logger });
    const all = { ...LEASE, agents: ['test'], limit: 9 };
    expect((await claimsOf(storage, all)).map(({ task }) => task.id)).toEqual(['other']);
    expect(lines).toMatchObject([{ message: 'a task cannot be read and is set aside', fields: { taskId: 'long' } }]);
    await storage.close();
    mend();
    const mended = await files.open(clock, { path });
    expect((await claimsOf(mended, all)).map(({ task }) => task.id).sort()).toEqual(['long', 'other']);
    await mended.close();
  });
});

describe('a list', () => {
  it('leaves a damaged task out and shows its neighbours', async () => {
    const path = files.fresh();
    const storage = await files.open(clock, { path });
    for (const id of ['t0', 't1', 't2']) {
      const text = id === 't1' ? 'z'.repeat(4 * PAGE) : 'short';
      const status = { state: 'TASK_STATE_COMPLETED' as const, timestamp: new Date(clock.now()).toISOString() };
      const artifacts = [{ artifactId: 'a', parts: [{ text }] }];
      await storage.create(ALICE, newTask({ clock, storage }, id, { status, artifacts }));
    }
    await storage.close();
    damage(path);
    const lines: unknown[] = [];
    const logger = { ...silentLogger, error: (_message: string, fields?: LogFields) => lines.push(fields?.taskId) };
    const damaged = await files.open(clock, { path, logger });
    const page = { scope: ALICE, orderBy: 'status', limit: 2, artifacts: true, history: true } as const;
    const { next, total, ...first } = await damaged.tasks(page);
    expect(total).toBe(3);
    expect(first.tasks.map(({ task }) => task.id)).toEqual(['t2']);
    const second = await damaged.tasks({ ...page, ...(next && { cursor: next }) });
    expect(second.tasks.map(({ task }) => task.id)).toEqual(['t0']);
    expect(lines).toEqual(['t1']);
    await damaged.close();
  });
});

const ALL = { ...LEASE, agents: ['test'] };
const NO_JSON = '{"broken';

/** Makes a file with `count` tasks, from t000, and changes it by SQL. */
async function changedFile(count: number, sql: string, each: (tested: Tested, id: string) => Promise<unknown>) {
  const path = files.fresh();
  const storage = await files.open(clock, { path });
  for (let at = 0; at < count; at += 1) await each({ clock, storage }, `t${String(at).padStart(3, '0')}`);
  await storage.close();
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
  return path;
}

const waitingTurn = ({ storage }: Tested, id: string) =>
  storage.accept(acceptance(userMessage('m'), newTask({ clock, storage }, id)));

async function waitingTask(tested: Tested, id: string): Promise<void> {
  const play = await TaskPlay.begin(tested, id);
  await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
}

describe('rows that cannot be read', () => {
  it.each([
    ['message', `UPDATE execution SET message = '${NO_JSON}' WHERE task <= 150`],
    ['caller', `UPDATE execution SET caller = '${NO_JSON}' WHERE task <= 150`],
    ['checkpoint', `UPDATE execution SET checkpoint = '${NO_JSON}' WHERE task <= 150`],
    ['task', `UPDATE task_record SET event = '${NO_JSON}' WHERE key >> 31 <= 150`],
    ['task, gone', 'DELETE FROM task_record WHERE key >> 31 <= 150'],
  ])('keep no other turn from being claimed, and come once (%s)', async (_, sql) => {
    const path = await changedFile(155, sql, waitingTurn);
    const lines: unknown[] = [];
    const logger = { ...silentLogger, error: (_message: string, fields?: LogFields) => lines.push(fields?.taskId) };
    const storage = await files.open(clock, { path, logger });
    const claims = await claimsOf(storage, { ...ALL, limit: 100 });
    expect(claims.map(({ task, attempt }) => [task.id, attempt])).toEqual(
      ['t150', 't151', 't152', 't153', 't154'].map((id) => [id, 1]),
    );
    expect(await claimsOf(storage, { ...ALL, limit: 100 })).toEqual([]);
    expect(await storage.check()).toMatchObject({ waiting: 150, unreadable: 150 });
    expect(lines).toEqual(Array.from({ length: 100 }, (_, at) => `t${String(at).padStart(3, '0')}`));
    await expect(storage.accept(acceptance(userMessage('more'), 't000'))).rejects.toThrow(StorageError);
    expect(await storage.delete(ALICE, 't000')).toBe('deleted');
    await storage.close();
  });

  it('lose no request to cancel: it counts without its metadata', async () => {
    const path = await changedFile(1, `UPDATE execution SET cancel = '${NO_JSON}'`, waitingTurn);
    const storage = await files.open(clock, { path });
    expect(await claimsOf(storage, { ...ALL, limit: 9 })).toMatchObject([{ cancel: {} }]);
    await storage.requestCancel(ALICE, 't000', { metadata: { why: 1 } });
    await storage.close();
  });

  it('keep no task from its expiry', async () => {
    const sql = `UPDATE task SET status = '${NO_JSON}' WHERE pk <= 120`;
    const path = await changedFile(125, sql, waitingTask);
    const storage = await files.open(clock, { path });
    for (const _ of [1, 2]) {
      const found = await storage.abandoned(['test'], -1, 100);
      expect(found.map(({ task }) => task.id)).toEqual(['t120', 't121', 't122', 't123', 't124']);
    }
    expect(await storage.check()).toMatchObject({ unreadable: 120 });
    await storage.close();
  });

  it('are left out of a list, which goes on behind them', async () => {
    const sql = `UPDATE task SET status = '${NO_JSON}' WHERE pk BETWEEN 2 AND 7; UPDATE task_record SET event = '' WHERE key >> 31 = 8`;
    const path = await changedFile(10, sql, ({ storage }, id) => {
      clock.pass(1);
      return storage.create(ALICE, newTask({ clock, storage }, id));
    });
    const storage = await files.open(clock, { path });
    const query = { scope: ALICE, orderBy: 'status' as const, limit: 2, artifacts: true, history: true };
    const first = await storage.tasks(query);
    expect(first.tasks.map(({ task }) => task.id)).toEqual(['t009', 't008']);
    const seen: string[] = [];
    for (let next = first.next; next !== undefined; ) {
      const page = await storage.tasks({ ...query, cursor: next });
      seen.push(...page.tasks.map(({ task }) => task.id));
      next = page.next;
    }
    expect(seen).toEqual(['t000']);
    await storage.close();
  });

  it('are left out of a list again if they are damaged after it', async () => {
    const path = files.fresh();
    const storage = await files.open(clock, { path });
    for (const id of ['one', 'two']) await storage.create(ALICE, { id, status: { state: 'TASK_STATE_COMPLETED' } });
    const query = { scope: ALICE, orderBy: 'status' as const, limit: 2, artifacts: true, history: true };
    const texts = async () => (await storage.tasks(query)).texts?.map(({ id }) => id);
    expect(await texts()).toEqual(['two', 'one']);
    const other = new DatabaseSync(path);
    other.exec(`UPDATE task SET status = '${NO_JSON}' WHERE id = 'one'`);
    other.close();
    const pages: unknown[] = [];
    for (let page = 0; page < 100; page += 1) pages.push(await texts());
    expect(pages.at(-1)).toEqual(['two']);
    await storage.close();
  });
});

describe('rows on damaged pages', () => {
  it('keep neither the server from starting nor others from being claimed', async () => {
    const path = files.fresh();
    const before = await files.open(clock, { path });
    const tested = { clock, storage: before };
    await before.accept(acceptance(userMessage('z'.repeat(4 * PAGE)), newTask(tested, 'long')));
    const others = Array.from({ length: 20 }, (_, at) => `t${10 + at}`);
    for (const id of others) await waitingTurn(tested, id);
    await before.close();
    const mend = damage(path);
    const storage = await files.open(clock, { path });
    // Rows beside a damaged one may not be readable either.
    const claimed = (await claimsOf(storage, { ...ALL, limit: 30 })).map(({ task }) => task.id);
    expect(claimed).toEqual(others.slice(-claimed.length));
    expect(claimed.length).toBeGreaterThan(10);
    expect(await storage.check()).toMatchObject({ unreadable: 21 - claimed.length });
    await storage.close();
    mend();
    const mended = await files.open(clock, { path });
    expect((await claimsOf(mended, { ...ALL, limit: 30 })).map(({ task }) => task.id)).toEqual(['long', ...others]);
    await mended.close();
  });

  it('are not swept, and all others are', async () => {
    const path = files.fresh();
    const before = await files.open(clock, { path });
    for (const [id, text] of Object.entries({ long: 'z'.repeat(4 * PAGE), a: 'a', b: 'b' })) {
      const play = await TaskPlay.begin({ clock, storage: before }, id);
      await play.write([play.chunk(text, false), 'TASK_STATE_COMPLETED'], { endsTurn: 1 });
    }
    await before.close();
    damage(path);
    const storage = await files.open(clock, { path });
    clock.pass(10);
    for (const _ of [1, 2]) await storage.sweep({ taskRetentionMs: 0, eventLogMs: 0, limit: 100 });
    const query = { scope: ALICE, orderBy: 'status' as const, limit: 9, artifacts: false, history: false };
    expect((await storage.tasks(query)).tasks.map(({ task }) => task.id)).toEqual(['long']);
    expect(await storage.check()).toMatchObject({ unreadable: 1 });
    await storage.close();
  });
});
