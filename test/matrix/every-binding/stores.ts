import { systemClock } from '../../../packages/parley/src/exports/runtime.js';
import { MemoryStorage } from '../../../packages/parley/src/store/memory/memory-storage.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { SqliteFiles } from '../../../packages/parley/test/sqlite-files.js';

/** A storage that a test has opened. */
export interface OpenedStore extends AsyncDisposable {
  readonly storage: TaskStorage;
}

/** A store of the matrix. */
export interface StoreRow {
  readonly name: string;
  readonly open: () => Promise<OpenedStore>;
}

/** A storage, and the server below it that ends with it. */
export function onServer(storage: TaskStorage, server: AsyncDisposable): OpenedStore {
  return {
    storage,
    async [Symbol.asyncDispose]() {
      await storage.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The store of the reference. */
export const MEMORY: StoreRow = {
  name: 'memory',
  open: async () => {
    const storage = new MemoryStorage({ clock: systemClock });
    return { storage, [Symbol.asyncDispose]: () => storage.close() };
  },
};

/** A file of SQLite. */
export const SQLITE: StoreRow = {
  name: 'SQLite',
  open: async () => {
    const files = new SqliteFiles();
    const storage = await files.open(systemClock);
    return {
      storage,
      async [Symbol.asyncDispose]() {
        await storage.close();
        files.remove();
      },
    };
  },
};
