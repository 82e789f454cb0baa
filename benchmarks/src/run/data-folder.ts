import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Databases are on a real disk, where a flush has its real cost. */
const DATA_FOLDER = fileURLToPath(new URL('../../../.cache/bench/', import.meta.url));

/** Makes a temporary folder for a storage that needs one; "" for any other. */
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
