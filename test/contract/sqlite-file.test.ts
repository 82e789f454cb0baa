import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { REMEMBERED_LIMIT } from '../../packages/parley/src/store/rules/key-head.js';
import { keyNumber } from '../../packages/parley/src/store/sqlite/key-numbers.js';
import { SqliteStorage } from '../../packages/parley/src/store/sqlite/sqlite-storage.js';
import { type Logger, silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { ALICE, acceptance, claimsOf, LEASE, newTask, only, TaskPlay, userMessage } from './storage/task-play.js';
import { StorageClock } from './storage/tested-storage.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const clock = new StorageClock();

describe('a SQLite file', () => {
  it('is made with its folder, and keeps everything over a restart', async () => {
    const path = join(files.folder, 'deep', 'down', 'parley.db');
    const first = { clock, storage: await files.open(clock, { path }) };
    const open = await TaskPlay.begin(first, 'open');
    await open.write(['TASK_STATE_WORKING', open.chunk('a', false)], { withSnapshot: true });
    await open.write([open.chunk('b')]);
    const done = await TaskPlay.begin(first, 'done');
    await done.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
    await first.storage.push.putConfig(ALICE, { id: 'p', taskId: 'done', url: 'https://example.com' });
    const key = { key: 'k', digest: 'd', ttlMs: 1_000 };
    await first.storage.keys.remember(ALICE, key, userMessage('r'));
    await first.storage.close();
    expect(readdirSync(dirname(path)).sort()).toEqual(['parley.db', 'parley.db-lock']);
    const storage = await files.open(clock, { path });
    expect((await storage.task(ALICE, 'open'))?.task).toEqual(open.task);
    expect(await storage.task(ALICE, 'done')).toMatchObject({ task: done.task, seq: 2, epoch: 1 });
    expect((await storage.records(open.key, 0, 100_000)).records).toHaveLength(4);
    expect(await storage.push.configs(ALICE, 'done', { limit: 9 })).toHaveLength(1);
    expect(await storage.keys.recall(ALICE, 'k')).toEqual({ digest: 'd', outcome: { reply: userMessage('r') } });
    const page = await storage.tasks({ scope: ALICE, orderBy: 'status', limit: 9, artifacts: false, history: false });
    expect(page).toMatchObject({ total: 2, tasks: [{ running: false }, { running: false }] });
    await storage.close();
  });

  it('answers the calls for pages that came before its close', async () => {
    const storage = await files.open(clock, {});
    await storage.create(ALICE, newTask({ clock, storage }, 't1'));
    const query = { scope: ALICE, orderBy: 'status', limit: 1, artifacts: false, history: false } as const;
    const pages = Array.from({ length: 30 }, () => storage.tasks(query));
    await storage.close();
    expect((await Promise.all(pages)).map(({ tasks }) => tasks.length)).toEqual(pages.map(() => 1));
  });

  it('reads pages of several calls at once, and fails only those that it cannot read', async () => {
    const storage = await files.open(clock, {});
    const tasks = [1, 2, 3].map((at) => newTask({ clock, storage }, `t${at}`));
    for (const task of tasks) await storage.create(ALICE, task);
    const query = { scope: ALICE, orderBy: 'status', artifacts: false, history: false } as const;
    const unreadable = { ...query, limit: 1, cursor: { time: {} as number, id: 't1' } };
    const queries = Array.from({ length: 20 }, (_, at) => (at === 10 ? unreadable : { ...query, limit: at % 4 }));
    const answers = await Promise.allSettled(queries.map((one) => storage.tasks(one)));
    expect(
      answers.map((answer) => (answer.status === 'rejected' ? answer.reason.name : answer.value.tasks.length)),
    ).toEqual(queries.map((one) => (one === unreadable ? 'StorageError' : one.limit)));
    await storage.close();
  });

  it('keeps a bounded stretch of the log of a task that goes on and on', async () => {
    const storage = await files.open(clock, { eventLogBytes: 25_000 });
    const play = await TaskPlay.begin({ clock, storage }, 't');
    for (let at = 0; at < 20; at += 1) {
      await play.write([play.chunk(`${at} ${'x'.repeat(5_000)}`, false)], { withSnapshot: true });
    }
    const { records, floor, last } = await storage.records(play.key, 0, 1_000_000);
    expect(last).toBe(21);
    expect(floor).toBeGreaterThan(10);
    expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 22 - floor }, (_, at) => floor + at));
    expect((await storage.task(ALICE, 't'))?.task).toEqual(play.task);
    await storage.close();
  });

  it('and its folder belong to their user alone, and so does what lies beside it', async () => {
    const path = join(files.folder, 'own', 'deep', 'parley.db');
    const storage = await files.open(clock, { path });
    await storage.create(ALICE, newTask({ clock, storage }, 't'));
    const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
    const modes = Object.fromEntries(
      readdirSync(dirname(path)).map((name) => [name, modeOf(join(dirname(path), name))]),
    );
    expect(modes).toEqual({
      'parley.db': '600',
      'parley.db-lock': '600',
      'parley.db-shm': '600',
      'parley.db-wal': '600',
    });
    expect([modeOf(dirname(path)), modeOf(dirname(dirname(path)))]).toEqual(['700', '700']);
    await storage.close();
  });

  it('keeps the permissions that it has', async () => {
    const path = files.fresh();
    mkdirSync(dirname(path), { mode: 0o750 });
    writeFileSync(path, '', { mode: 0o640 });
    await (await files.open(clock, { path })).close();
    expect((statSync(path).mode & 0o777).toString(8)).toBe('640');
  });

  it('is had by one of two servers that come at the same moment: each waits for the other to give way', async () => {
    const path = files.fresh();
    await (await files.open(clock, { path })).close();
    // A second process that opens the file and finds the first.
    const other = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
      const db = new (require('node:sqlite').DatabaseSync)(workerData);
      db.exec('BEGIN; SELECT count(*) FROM sqlite_master');
      parentPort.postMessage('looks');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
      db.close();`,
      { eval: true, workerData: `${path}-lock` },
    );
    await once(other, 'message');
    await (await files.open(clock, { path })).close();
  });

  it('gives lost turns out at once after a restart: the lease of the process that is gone is void', async () => {
    const path = files.fresh();
    const before = { clock, storage: await files.open(clock, { path }) };
    const began = await TaskPlay.begin(before, 'began');
    await began.write(['TASK_STATE_WORKING']);
    await before.storage.saveCheckpoint(began.held, 'here');
    await before.storage.requestCancel(ALICE, 'began', { metadata: { why: 1 } });
    await TaskPlay.begin(before, 'fresh');
    await before.storage.accept(acceptance(userMessage('next'), 'fresh'));
    await before.storage.close();
    const after = { clock, storage: await files.open(clock, { path }) };
    expect(await after.storage.append(began.draft([]))).toEqual({ kind: 'fenced' });
    const claims = await claimsOf(after.storage, { ...LEASE, agents: ['test'], limit: 9 });
    expect(claims).toMatchObject([
      { turn: 1, attempt: 2, epoch: 2, began: true, checkpoint: 'here', cancel: { metadata: { why: 1 } } },
      { turn: 1, attempt: 2, epoch: 2, began: false },
    ]);
    expect(claims.map(({ task }) => task.id)).toEqual(['began', 'fresh']);
    const [, second] = claims;
    if (second === undefined) throw new Error('There is no second turn');
    await after.storage.release(
      { key: { scope: ALICE, id: 'fresh' }, turn: 1, epoch: second.epoch, attempt: 1 },
      'done',
    );
    expect(only(await claimsOf(after.storage, { ...LEASE, agents: ['test'], limit: 9 }))).toMatchObject({
      turn: 2,
      attempt: 1,
      message: userMessage('next'),
    });
    await after.storage.close();
  });

  it('goes on counting after a restart', async () => {
    const path = files.fresh();
    for (const round of [1, 2, 3]) {
      const storage = await files.open(clock, { path });
      await storage.create(ALICE, newTask({ clock, storage }, `t${round}`, { contextId: 'c' }));
      for (const contextId of ['c', undefined]) {
        const page = { scope: ALICE, orderBy: 'status' as const, limit: 0, artifacts: false, history: false };
        expect((await storage.tasks({ ...page, ...(contextId && { contextId }) })).total).toBe(round);
      }
      await storage.close();
    }
  });

  it('gives a new task nothing of one that was deleted before a restart', async () => {
    const path = files.fresh();
    const before = { clock, storage: await files.open(clock, { path }) };
    const play = await TaskPlay.begin(before, 'old');
    await play.write(['TASK_STATE_WORKING', play.chunk('old', false)], { withSnapshot: true });
    await before.storage.push.putConfig(ALICE, { id: 'p', taskId: 'old', url: 'https://example.com' });
    await before.storage.release({ ...play.held, attempt: 1 }, 'again');
    await before.storage.delete(ALICE, 'old');
    await before.storage.close();
    const storage = await files.open(clock, { path });
    const created = newTask({ clock, storage }, 'new');
    await storage.create(ALICE, created);
    expect((await storage.task(ALICE, 'new'))?.task).toEqual(created);
    expect(await storage.push.configs(ALICE, 'new', { limit: 9 })).toEqual([]);
    expect((await storage.records({ scope: ALICE, id: 'new' }, 0, 10_000)).records).toHaveLength(1);
    expect(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9 })).toEqual([]);
    await storage.close();
  });

  it('belongs to one storage at a time, which a second one is told', async () => {
    const path = files.fresh();
    const first = await files.open(clock, { path });
    await expect(files.open(clock, { path })).rejects.toMatchObject({
      name: 'StorageError',
      message: `Cannot use ${path} as storage: another server uses it (process ${process.pid}): stop that one, or name another file`,
    });
    expect(await first.create(ALICE, newTask({ clock, storage: first }, 't1'))).toBe(true);
    await first.close();
    await (await files.open(clock, { path })).close();
  });

  it('keeps each key that lasts beside all messages that it can remember', async () => {
    const path = files.fresh();
    const first = { clock, storage: await files.open(clock, { path }) };
    const key = { digest: 'd', ttlMs: 300_000, isLasting: true };
    await first.storage.keys.remember(ALICE, { ...key, key: 'link' }, userMessage('r'));
    await first.storage.keys.reserve(ALICE, { ...key, key: 'reserved' }, LEASE);
    await first.storage.accept(
      acceptance(userMessage('m'), newTask(first, 't1'), { idempotency: { ...key, key: 'accepted' } }),
    );
    await first.storage.close();
    const db = new DatabaseSync(path);
    // Ten users with a tenth of the keys each, which is less than the allowed share of one user.
    db.exec(`INSERT INTO scope WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 109)
      SELECT i, 1, '', 'user ' || i FROM n`);
    const expires = `${clock.now() + 600_000}`;
    db.exec(`INSERT INTO idempotency (pk, scope, key, expires, digest, reply)
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${REMEMBERED_LIMIT - 1})
      SELECT ${keyNumber(0, expires, 'i')}, 100 + i % 10, 'm-' || i, ${expires}, 'd', '{}' FROM n`);
    db.close();
    const second = await files.open(clock, { path });
    const { keys } = second;
    await keys.remember(ALICE, { key: 'next', digest: 'd', ttlMs: 600_000 }, userMessage('r'));
    expect(await keys.recall(ALICE, 'link')).toBeDefined();
    expect(await keys.recall(ALICE, 'accepted')).toBeDefined();
    const other = await keys.reserve(ALICE, { ...key, key: 'reserved' }, { ...LEASE, node: 'there' });
    expect(other).toEqual({ kind: 'taken', digest: 'd' });
    await second.close();
  });

  it('that was written by a newer version is refused and left alone', async () => {
    const path = files.fresh();
    await (await files.open(clock, { path })).close();
    const db = new DatabaseSync(path);
    db.exec("UPDATE meta SET value = '99' WHERE name = 'schema'");
    db.close();
    const bytes = readFileSync(path);
    await expect(files.open(clock, { path })).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('a newer version wrote it (schema 99'),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it.each([
    ['is no database', (path: string) => writeFileSync(path, 'this is a letter, not a database\n'.repeat(300))],
    [
      'is a database of something else',
      (path: string) => {
        const db = new DatabaseSync(path);
        db.exec('CREATE TABLE song (title TEXT)');
        db.close();
      },
    ],
  ])('that %s is refused and left alone', async (_, write) => {
    const path = files.fresh();
    mkdirSync(dirname(path), { recursive: true });
    write(path);
    const bytes = readFileSync(path);
    await expect(files.open(clock, { path })).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining(`Cannot use ${path} as storage: `),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it.each([
    ['a folder', (path: string) => mkdirSync(path, { recursive: true })],
    [
      'below a file',
      (path: string) => {
        mkdirSync(dirname(dirname(path)), { recursive: true });
        writeFileSync(dirname(path), '');
      },
    ],
  ])('cannot be %s', async (_, prepare) => {
    const path = files.fresh();
    prepare(path);
    await expect(files.open(clock, { path })).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining(path),
    });
  });

  it('that turns out to be damaged fails the call, not the process', async () => {
    const path = files.fresh();
    const before = { clock, storage: await files.open(clock, { path }) };
    await Promise.all(Array.from({ length: 50 }, (_, at) => before.storage.create(ALICE, newTask(before, `t${at}`))));
    await before.storage.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096);
    writeFileSync(path, bytes);
    const storage = await files.open(clock, { path }).catch((error: unknown) => error);
    if (storage instanceof SqliteStorage) {
      await expect(storage.task(ALICE, 't1')).rejects.toMatchObject({ name: 'StorageError' });
      await expect(storage.create(ALICE, newTask({ clock, storage }, 'new'))).rejects.toMatchObject({
        name: 'StorageError',
      });
      await storage.close();
    } else {
      expect(storage).toMatchObject({ name: 'StorageError', message: expect.stringContaining(path) });
    }
  });
});

describe('the thread that writes', () => {
  const openWith = (worker: URL, logger: Logger = silentLogger) =>
    SqliteStorage.open({ path: files.fresh(), clock, logger, worker });

  it('that cannot be started is told', async () => {
    const worker = new URL('missing.mjs', files.worker);
    await expect(openWith(worker)).rejects.toMatchObject({ name: 'StorageError' });
  });

  it('that dies is started again, and what it was asked is done once, whether or not it had been', async () => {
    for (const moment of ['before', 'after'] as const) {
      const logged: string[] = [];
      const worker = files.dyingWorker(moment, 'again ? "no" : "now"');
      const storage = await openWith(worker, { ...silentLogger, error: (message) => logged.push(message) });
      const play = await TaskPlay.begin({ clock, storage }, 't');
      expect(play.epoch).toBe(1);
      await play.write(['TASK_STATE_WORKING', play.chunk('x', false)]);
      const outcome = await storage.accept(acceptance(userMessage('next'), 't'));
      expect(outcome).toEqual({ kind: 'accepted', taskId: 't', turn: 2, seq: 3 });
      await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1 });
      const task = { scope: ALICE, id: 't' };
      const next = only(await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 9, task }));
      expect(next).toMatchObject({ turn: 2, epoch: 2, attempt: 1, seq: 4 });
      expect(await storage.create(ALICE, newTask({ clock, storage }, 'other'))).toBe(true);
      await storage.append(play.draft(['TASK_STATE_CANCELED'], { authority: 'force', after: 4 }));
      const { records } = await storage.records(play.key, 0, 100_000);
      expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
      expect(logged.length).toBeGreaterThan(5);
      expect(new Set(logged)).toEqual(new Set(['a thread of the storage has died']));
      await storage.close();
    }
  });

  it('that dies of what it is asked fails that, and nothing else', async () => {
    const storage = await openWith(
      files.dyingWorker('before', 'JSON.stringify(request).includes("poison") ? "now" : "no"'),
    );
    const create = (id: string) => storage.create(ALICE, newTask({ clock, storage }, id));
    expect(await create('first')).toBe(true);
    await expect(create('poison')).rejects.toMatchObject({ name: 'StorageError' });
    expect(await create('second')).toBe(true);
    expect(await storage.task(ALICE, 'poison')).toBeUndefined();
    await storage.close();
  });

  it('that ends while it starts is told, at the first start and at a later one', async () => {
    const ends = join(files.folder, 'ends.mjs');
    writeFileSync(ends, 'process.exit(7);');
    await expect(openWith(pathToFileURL(ends))).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('ended with code 7'),
    });
    const storage = await openWith(files.dyingWorker('before', '"now"', 'workerData.resume'));
    const calls = ['a', 'b', 'c'].map((id) => storage.create(ALICE, newTask({ clock, storage }, id)));
    for (const call of calls) await expect(call).rejects.toMatchObject({ name: 'StorageError' });
    await storage.close();
  });

  it('that dies twice in a row leaves no call without an answer', async () => {
    const storage = await openWith(
      files.dyingWorker('before', 'again || !JSON.stringify(request).includes("zebra") ? "now" : "no"'),
    );
    const create = (id: string) => storage.create(ALICE, newTask({ clock, storage }, id));
    const doomed = await Promise.allSettled([create('a'), create('b')]);
    expect(doomed).toMatchObject([
      { status: 'rejected', reason: { name: 'StorageError' } },
      { status: 'rejected', reason: { name: 'StorageError' } },
    ]);
    expect(await create('zebra')).toBe(true);
    const page = { scope: ALICE, orderBy: 'status' as const, limit: 9, artifacts: false, history: false };
    await expect(storage.tasks(page)).rejects.toMatchObject({ name: 'StorageError' });
    await storage.close();
  });

  it('that reads long lists is started again too', async () => {
    const storage = await openWith(files.dyingWorker('before', '!Array.isArray(request) && !again ? "now" : "no"'));
    await storage.create(ALICE, newTask({ clock, storage }, 't'));
    const page = { scope: ALICE, orderBy: 'status' as const, limit: 9, artifacts: false, history: false };
    for (const _ of [1, 2]) expect(await storage.tasks(page)).toMatchObject({ total: 1 });
    await storage.close();
  });
});

describe('a process that is killed', () => {
  const script = join(files.folder, 'victim.mjs');
  buildSync({
    entryPoints: [fileURLToPath(new URL('sqlite-victim.ts', import.meta.url))],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['esbuild', 'vitest'],
  });

  it('keeps all others out while it lives, and loses nothing that it was promised', async () => {
    const path = files.fresh();
    const victim = fork(script, [path, files.worker.href], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const exited = new Promise((resolve) => victim.once('exit', resolve));
    const promised: string[] = [];
    await new Promise<void>((resolve) => {
      victim.on('message', (id) => {
        promised.push(String(id));
        if (promised.length === 200) resolve();
      });
    });
    await expect(files.open(clock, { path })).rejects.toMatchObject({
      message: expect.stringContaining('another server'),
    });
    victim.kill('SIGKILL');
    await exited;
    const storage = await files.open(clock, { path });
    for (const id of promised) expect(await storage.task(ALICE, id)).toMatchObject({ seq: 1, running: false });
    const page = await storage.tasks({ scope: ALICE, orderBy: 'status', limit: 0, artifacts: false, history: false });
    expect(page.total).toBeGreaterThanOrEqual(promised.length);
    const claims = await claimsOf(storage, { ...LEASE, agents: ['test'], limit: 10_000 });
    expect(claims.length).toBe(page.total);
    expect(new Set(claims.map(({ attempt }) => attempt))).toEqual(new Set([2]));
    await storage.close();
  });
});
