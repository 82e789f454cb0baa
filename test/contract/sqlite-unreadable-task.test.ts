import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import type { LogFields } from '../../packages/parley/src/telemetry/logger.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from './sqlite-files.js';
import { ALICE, acceptance, claimed, LEASE, newTask, said, TaskPlay } from './storage/task-play.js';
import { StorageClock } from './storage/tested-storage.js';

const PAGE = 4096;
const files = new SqliteFiles();
afterAll(() => files.remove());
const clock = new StorageClock();

/** A file in which one task waits for its caller, with a text that has pages of its own. */
async function fileWithLongTask(): Promise<string> {
  const path = files.fresh();
  const storage = await files.open(clock, { path });
  const play = await TaskPlay.begin({ clock, storage }, 'long');
  await play.write([play.chunk('z'.repeat(4 * PAGE))]);
  await play.write(['TASK_STATE_INPUT_REQUIRED'], { endsTurn: 1, withSnapshot: true });
  await storage.close();
  return path;
}

/** Breaks the pages of the long text; what is returned mends them. */
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
    const more = acceptance(said('more'), 'long', { claim: LEASE });
    await expect(storage.accept(more)).rejects.toThrow(StorageError);
    await storage.close();
    mend();
    const mended = await files.open(clock, { path });
    expect(await mended.claim({ ...LEASE, agents: ['test'], limit: 9 })).toEqual([]);
    const claim = claimed(await mended.accept(more));
    expect(claim).toMatchObject({ attempt: 1, message: said('more') });
    await mended.close();
  });

  it('keeps nobody from the turns of others, and waits for its own', async () => {
    const path = await fileWithLongTask();
    const before = await files.open(clock, { path });
    await before.accept(acceptance(said('more'), 'long'));
    // Rows beside a damaged one cannot be read either.
    for (let at = 0; at < 40; at += 1) await before.create(ALICE, newTask({ clock, storage: before }, `between ${at}`));
    await before.accept(acceptance(said('m'), newTask({ clock, storage: before }, 'other')));
    await before.close();
    const mend = damage(path);
    const lines: { message: string; fields: LogFields | undefined }[] = [];
    const logger = { ...silentLogger, error: (message: string, fields?: LogFields) => lines.push({ message, fields }) };
    const storage = await files.open(clock, { path, logger });
    const all = { ...LEASE, agents: ['test'], limit: 9 };
    expect((await storage.claim(all)).map(({ task }) => task.id)).toEqual(['other']);
    expect(lines).toMatchObject([{ message: 'a task cannot be read, its turn waits', fields: { taskId: 'long' } }]);
    await storage.close();
    mend();
    const mended = await files.open(clock, { path });
    expect((await mended.claim(all)).map(({ task }) => task.id).sort()).toEqual(['long', 'other']);
    await mended.close();
  });
});
