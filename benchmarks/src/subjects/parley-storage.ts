import { join } from 'node:path';
import { textLogger } from 'parley-a2a';
import { MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';

/** The storage that a subject was started with, at its defaults. */
export async function storageNamed(name: string | undefined, folder: string): Promise<TaskStorage> {
  if (name === 'memory') return new MemoryStorage({ clock: systemClock });
  const { openStorage } = await import('parley-a2a/storage');
  const file = `sqlite:${join(folder, 'bench.db')}`;
  // Hides the warning about the weaker durability: any output of a subject counts as a fault.
  const logger = textLogger({ write: (line) => process.stderr.write(line), now: Date.now, level: 'error' });
  return openStorage(name === 'sqlite-process' ? `${file}?durability=process` : file, { logger });
}
