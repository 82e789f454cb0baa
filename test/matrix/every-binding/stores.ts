import { spawnSync } from 'node:child_process';
import { systemClock } from '../../../packages/parley/src/exports/runtime.js';
import { openStorage } from '../../../packages/parley/src/exports/storage.js';
import { MemoryStorage } from '../../../packages/parley/src/store/memory/memory-storage.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from '../../contract/sqlite-files.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';

/** A storage that a test has opened. */
export interface OpenedStore extends AsyncDisposable {
  readonly storage: TaskStorage;
}

/** A store of the matrix. */
export interface StoreRow {
  readonly name: string;
  /** True if it is played in the long form only. */
  readonly isLong?: boolean;
  /** True if the programs that it needs are there. Absent: it needs none. */
  readonly isThere?: () => boolean;
  readonly open: () => Promise<OpenedStore>;
}

async function onServer(server: { readonly url: string } & AsyncDisposable): Promise<OpenedStore> {
  const storage = await openStorage(server.url, { logger: silentLogger });
  return {
    storage,
    async [Symbol.asyncDispose]() {
      await storage.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const runs = (command: string) => spawnSync('sh', ['-c', command]).status === 0;

/** Every store. The first row is the reference. */
export const STORES: readonly StoreRow[] = [
  {
    name: 'memory',
    open: async () => {
      const storage = new MemoryStorage({ clock: systemClock });
      return { storage, [Symbol.asyncDispose]: () => storage.close() };
    },
  },
  {
    name: 'sqlite',
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
  },
  {
    name: 'postgres',
    isLong: true,
    isThere: () => runs('ls /usr/lib/postgresql/*/bin/initdb'),
    open: async () => onServer(await PostgresServer.start()),
  },
  {
    name: 'redis',
    isLong: true,
    isThere: () => runs('redis-server --version'),
    open: async () => onServer(await RedisServer.start()),
  },
];
