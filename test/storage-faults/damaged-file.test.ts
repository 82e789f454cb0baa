import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Caller, taskOf } from './calls.js';
import { ServerProcess } from './server-process.js';
import { checkWhole } from './whole-file.js';

vi.setConfig({ testTimeout: 120_000 });

const PAGE = 4096;
let folder: string;
let count = 0;
/** The file of a killed server: some tasks are in the database, the later ones in the log beside it. */
let left: string;
/** Its tasks in the order in which they were acknowledged; the first ones were there at an orderly stop. */
const settled: string[] = [];
const logged: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  left = join(folder, 'left.db');
  await using first = await ServerProcess.start(left);
  for (let at = 0; at < 5; at += 1) settled.push(await completeTask(first, at));
  await first.stop();
  await using second = await ServerProcess.start(left);
  for (let at = 0; at < 20; at += 1) logged.push(await completeTask(second, at));
  await second.kill();
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function completeTask(server: ServerProcess, at: number): Promise<string> {
  return taskOf(await new Caller(server.addresses).send(`quick ${letter(at).repeat(4 * PAGE)}`)).id;
}

/** Fills pages of its own in the file. */
function letter(at: number): string {
  return String.fromCharCode(97 + at);
}

/** Copies that file, to damage the copy. */
function copyFiles(log = true): string {
  count += 1;
  const path = join(folder, String(count), 'tasks.db');
  mkdirSync(join(path, '..'));
  copyFileSync(left, path);
  if (log) copyFileSync(`${left}-wal`, `${path}-wal`);
  return path;
}

function overwrite(path: string, at: number, length: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(length, 0x5a), 0, length, at);
  closeSync(file);
}

/** The tasks that a server finds in such a file, which must be the first ones that were acknowledged, each whole. */
async function countTasks(path: string): Promise<number> {
  await using server = await ServerProcess.start(path);
  const caller = new Caller(server.addresses);
  expect(taskOf(await caller.send('quick')).status.state).toBe('TASK_STATE_COMPLETED');
  expect(await server.stop()).toBe(0);
  const states = await checkWhole(path);
  const known = [...settled, ...logged];
  const kept = known.filter((id) => states.has(id));
  expect(kept).toEqual(known.slice(0, kept.length));
  // Of the last one only the beginning may be left: then its turn was interrupted.
  for (const id of kept.slice(0, -1)) expect(states.get(id)).toBe('TASK_STATE_COMPLETED');
  return kept.length;
}

describe('the log of a killed server', () => {
  it('has everything that was acknowledged', async () => {
    expect(await countTasks(copyFiles())).toBe(25);
  });

  it('that was cut off gives what is whole before the cut', async () => {
    for (const part of [0.3, 0.7]) {
      const path = copyFiles();
      const { size } = statSync(`${path}-wal`);
      truncateSync(`${path}-wal`, Math.floor(size * part));
      const kept = await countTasks(path);
      expect(kept).toBeGreaterThan(5);
      expect(kept).toBeLessThan(25);
    }
  });

  it('that is damaged gives what is whole before the damage', async () => {
    const path = copyFiles();
    overwrite(`${path}-wal`, Math.floor(statSync(`${path}-wal`).size / 2), 100);
    const kept = await countTasks(path);
    expect(kept).toBeGreaterThan(5);
    expect(kept).toBeLessThan(25);
  });

  it('that is gone, or has lost its beginning, takes with it what was only there', async () => {
    expect(await countTasks(copyFiles(false))).toBe(5);
    const path = copyFiles();
    overwrite(`${path}-wal`, 0, 32);
    expect(await countTasks(path)).toBe(5);
  });
});

/** Starts a server that must fail. Returns its output. */
async function refusal(path: string): Promise<string> {
  const start = ServerProcess.start(path);
  return start.then(
    async (server) => {
      await server.kill();
      return 'It started.';
    },
    (error: Error) => error.message,
  );
}

describe('a database file', () => {
  it('with a damaged beginning is refused and left alone', async () => {
    const path = copyFiles(false);
    overwrite(path, 0, 100);
    const before = readFileSync(path);
    expect(await refusal(path)).toContain(`Cannot use ${path} as storage: it is no SQLite database`);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('that was cut off is refused and left alone', async () => {
    const path = copyFiles(false);
    truncateSync(path, 3 * PAGE);
    expect(await refusal(path)).toContain(`Cannot use ${path} as storage: it is damaged: put a copy back`);
    expect(statSync(path).size).toBe(3 * PAGE);
  });

  it('of no length is a new one', async () => {
    const path = copyFiles(false);
    writeFileSync(path, '');
    expect(await countTasks(path)).toBe(0);
  });

  it('with a damaged page fails the task that needs that page, says so in the log, and serves the rest', async () => {
    const path = copyFiles(false);
    const bytes = readFileSync(path);
    // A page of a long text begins with the number of the next one.
    const filled = Buffer.alloc(PAGE - 4, letter(2));
    for (let at = 0; at < bytes.length; at += PAGE) {
      if (bytes.subarray(at + 4, at + PAGE).equals(filled)) overwrite(path, at, PAGE);
    }
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    for (const [at, id] of settled.entries()) {
      expect(await caller.task(id)).toMatchObject({ status: at === 2 ? 500 : 200 });
    }
    expect(taskOf(await caller.send('quick')).status.state).toBe('TASK_STATE_COMPLETED');
    expect(server.linesWith('it is damaged: put a copy back').length).toBeGreaterThan(0);
    expect(server.linesWith('the storage cannot write')).toEqual([]);
    expect(server.running).toBe(true);
    await server.stop();
  });
});
