import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type RecordRow, ROW_COLUMNS, recordsOf } from '../../packages/parley/src/store/sqlite/record-rows.js';
import { SCHEMA_VERSION } from '../../packages/parley/src/store/sqlite/schema.js';
import { Caller, taskOf } from './calls.js';
import { ServerProcess } from './server-process.js';
import { SmallDisk } from './small-disk.js';
import { checkWhole } from './whole-file.js';

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
/** A file of the first version, with finished tasks and one that waits. */
let old: string;
let tasks: ReadonlyMap<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  old = join(folder, 'old.db');
  await using server = await ServerProcess.start(old);
  const caller = new Caller(server.addresses);
  for (let at = 0; at < 30; at += 1) await caller.send(`quick ${'x'.repeat(2_000)}`);
  await caller.send('ask');
  await server.stop();
  const db = new DatabaseSync(old);
  db.exec(`CREATE TABLE old_record (
      task INTEGER, seq INTEGER, turn INTEGER NOT NULL, event TEXT NOT NULL, history TEXT, metadata TEXT, PRIMARY KEY (task, seq)
    ) STRICT, WITHOUT ROWID;`);
  unpackRecords(db);
  db.exec(`DROP TABLE task_record; DROP TABLE push_delivery; ALTER TABLE old_record RENAME TO task_record;
    DROP INDEX task_alone; DROP INDEX task_ended; CREATE INDEX task_ended ON task (ended) WHERE ended IS NOT NULL;
    ALTER TABLE task DROP COLUMN bytes; ALTER TABLE execution DROP COLUMN hand_overs; UPDATE meta SET value = '1' WHERE name = 'schema'; VACUUM;`);
  tasks = new Map(
    db
      .prepare('SELECT id, state FROM task')
      .all()
      .map(({ id, state }) => [String(id), state === 3 ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_INPUT_REQUIRED']),
  );
  db.close();
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fills the table of records as the first version had it: a row for each record. */
function unpackRecords(db: DatabaseSync): void {
  const rows = db.prepare(`SELECT ${ROW_COLUMNS}, key >> 31 AS task FROM task_record`).all();
  const insert = db.prepare('INSERT INTO old_record VALUES (?, ?, ?, ?, ?, ?)');
  for (const row of rows) {
    for (const record of recordsOf([row as unknown as RecordRow], 0)) insert.run(Number(row.task), ...record);
  }
}

function versionOf(path: string): number {
  const db = new DatabaseSync(path);
  const row = db.prepare("SELECT value FROM meta WHERE name = 'schema'").get();
  db.close();
  return Number(row?.value);
}

function copyOld(name: string, to = join(folder, name)): string {
  mkdirSync(to, { recursive: true });
  copyFileSync(old, join(to, 'tasks.db'));
  return join(to, 'tasks.db');
}

it('a file of an older version is brought up to date, with everything that is in it', async () => {
  const path = copyOld('older');
  await using server = await ServerProcess.start(path);
  const caller = new Caller(server.addresses);
  const waiting = [...tasks].find(([, state]) => state === 'TASK_STATE_INPUT_REQUIRED')?.[0];
  expect(taskOf(await caller.send('answer', waiting)).status.state).toBe('TASK_STATE_COMPLETED');
  expect(await server.stop()).toBe(0);
  expect(versionOf(path)).toBe(SCHEMA_VERSION);
  expect([...(await checkWhole(path)).keys()].sort()).toEqual([...tasks.keys()].sort());
});

it('a file of a newer version is refused and stays as it is', async () => {
  const path = copyOld('newer');
  const db = new DatabaseSync(path);
  db.exec("UPDATE meta SET value = '99' WHERE name = 'schema'");
  db.close();
  await expect(ServerProcess.start(path)).rejects.toThrow(
    `Cannot use ${path} as storage: a newer version wrote it (schema 99, this version knows ${SCHEMA_VERSION})`,
  );
  expect(versionOf(path)).toBe(99);
});

it('a server killed while it brings a file up to date leaves the old or the new one', async () => {
  const path = copyOld('killed');
  for (let round = 0; round < (process.env.TEST_LONG ? 30 : 4); round += 1) {
    copyFileSync(old, path);
    const start = ServerProcess.start(path, { killAfterMs: 150 + round * 25 });
    await start.then(
      (server) => server.kill(),
      () => {},
    );
    expect([1, SCHEMA_VERSION]).toContain(versionOf(path));
    expect(await checkWhole(path)).toEqual(tasks);
    rmSync(`${path}-wal`, { force: true });
  }
});

it.skipIf(SmallDisk.missing)('without room for it the file stays what it was, until there is', async () => {
  using disk = SmallDisk.of(4);
  const path = copyOld('full', join(disk.path, 'data'));
  disk.fill();
  await expect(ServerProcess.start(path)).rejects.toThrow('there is no space left on its disk: make room');
  disk.free();
  expect(versionOf(path)).toBe(1);
  expect(await checkWhole(path)).toEqual(tasks);
  expect(versionOf(path)).toBe(SCHEMA_VERSION);
});
