import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { Scope } from '../../packages/parley/src/store/task-key.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../packages/parley/src/task/task-builder.js';

const scope: Scope = { agent: '/', tenant: '', owner: null };
/** The library as it is built: only that can start the store's threads. */
const built = new URL('../../packages/parley/dist/exports/storage.js', import.meta.url).href;

/** Opens a file that no server uses, in this process. */
export async function openFile(path: string): Promise<TaskStorage> {
  const { openStorage } = (await import(/* @vite-ignore */ built)) as {
    openStorage: (url: string) => Promise<TaskStorage>;
  };
  return openStorage(`sqlite:${path}`);
}

/**
 * Checks the file with SQLite, then every task in it: its log has no gap, and the stored task is the fold of its log.
 * Returns the states by id.
 */
export async function checkWhole(path: string): Promise<ReadonlyMap<string, string>> {
  const db = new DatabaseSync(path);
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  db.close();
  const storage = await openFile(path);
  try {
    const query = { scope, orderBy: 'created' as const, limit: 100_000, artifacts: false, history: false };
    const { tasks } = await storage.tasks(query);
    for (const { task } of tasks) await checkTask(storage, task.id);
    return new Map(tasks.map(({ task }) => [task.id, task.status.state]));
  } finally {
    await storage.close();
  }
}

async function checkTask(storage: TaskStorage, id: string): Promise<void> {
  const records: LogRecord[] = [];
  for (;;) {
    const page = await storage.records({ scope, id }, records.length, 1_048_576);
    if (page.records.length === 0) break;
    records.push(...page.records);
  }
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
  const [first, ...rest] = records;
  if (first === undefined || first.event.task === undefined)
    throw new Error(`The log of ${id} does not begin with the task`);
  expect((await storage.task(scope, id))?.task).toEqual(TaskBuilder.fold(first.event.task, rest));
}
