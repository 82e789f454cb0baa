import { join } from 'node:path';
import { textLogger } from 'parley-a2a';
import { MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';
import { storedTask } from '../stored-tasks.js';

const AT_ONCE = 1000;

/** The storage that a subject was started with, at its defaults. */
export async function storageNamed(name: string | undefined, folder: string): Promise<TaskStorage> {
  if (name === 'memory') return new MemoryStorage({ clock: systemClock });
  const { openStorage } = await import('parley-a2a/storage');
  const file = `sqlite:${join(folder, 'bench.db')}`;
  // Hides the warning about the weaker durability: any output of a subject counts as a fault.
  const logger = textLogger({ write: (line) => process.stderr.write(line), now: Date.now, level: 'error' });
  return openStorage(name === 'sqlite-process' ? `${file}?durability=process` : file, { logger });
}

/** Stores finished tasks of the anonymous caller by the storage port. Concurrent calls share a commit. */
export async function storeTasks(
  storage: TaskStorage,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const scope = { agent: '/', tenant: '', owner: null };
  for (let index = from; index < to; index += AT_ONCE) {
    const count = Math.min(AT_ONCE, to - index);
    await Promise.all(Array.from({ length: count }, (_, at) => storage.create(scope, storedTask(index + at))));
  }
}
