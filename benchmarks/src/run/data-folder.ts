import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Databases stand on a real disk, where a flush costs what it costs. */
const DATA_FOLDER = fileURLToPath(new URL('../../../.cache/bench/', import.meta.url));

/** Gives a storage that needs one a new folder, and removes it afterwards; "" for any other. */
export async function inDataFolder<T>(storage: string | undefined, run: (folder: string) => Promise<T>): Promise<T> {
  if (storage?.startsWith('sqlite') !== true) return run('');
  await mkdir(DATA_FOLDER, { recursive: true });
  const folder = await mkdtemp(join(DATA_FOLDER, 'data-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
