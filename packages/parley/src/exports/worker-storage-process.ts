// The program of the storage process: has the storage of all workers until the first process says that they have ended,
// or has ended itself.
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../errors/storage-error.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { type StorageAddress, StorageServer } from '../store/remote/storage-server.js';
import { openServedSqlite } from '../store/sqlite/sqlite-storage.js';
import type { LogFields, Logger } from '../telemetry/logger.js';
import { openSqliteOptions } from './open-sqlite.js';
import { systemClock } from './runtime.js';
import type { ServedDatabase } from './served-database.js';
import { addressOfStorage, type FromStorage, leasesOfStorage, type ToStorage } from './worker-storage.js';

/** Maximum wait in ms of the storage process for the workers, after the first process has ended. */
const ORPHAN_MS = 60_000;

function tell(message: FromStorage): void {
  if (process.connected) process.send?.(message, () => {});
}

const log = (level: keyof Logger) => (text: string, fields?: LogFields) =>
  tell({ level, text, ...(fields && { fields }) });
/** The first process writes the lines. */
const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };

async function serve({ path, token }: StorageAddress, database: ServedDatabase): Promise<StorageServer> {
  const leases = leasesOfStorage();
  const served = { path, token, logger, clock: systemClock, ...(leases !== 'void' && { processes: Number(leases) }) };
  if (database.backend === 'sqlite') {
    const file = openSqliteOptions({ ...database, logger }, leases === 'void' ? 'void' : 'keep');
    return StorageServer.listen({ ...served, ...(await openServedSqlite(file)) });
  }
  const { backend: _, ...limits } = database;
  return StorageServer.listen({ ...served, storage: new MemoryStorage({ clock: systemClock, ...limits }) });
}

// Signals of a terminal or a supervisor reach all processes. The workers drain, and need the storage meanwhile.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
const ended = new Promise<'stop' | 'orphan'>((resolve) => {
  process.on('message', (message) => {
    if (message === ('stop' satisfies ToStorage)) resolve('stop');
  });
  process.on('disconnect', () => resolve('orphan'));
  if (!process.connected) resolve('orphan');
});
try {
  const [, , database = ''] = process.argv;
  const address = addressOfStorage();
  if (address === undefined) throw new StorageError('The first process has to start this one');
  const server = await serve(address, JSON.parse(database) as ServedDatabase);
  tell('ready');
  if ((await ended) === 'orphan') {
    const late = new Promise<void>((resolve) => void setTimeout(resolve, ORPHAN_MS).unref());
    await Promise.race([server.left(), late]);
    // The first process cannot remove the folder any more.
    if (process.platform !== 'win32') rmSync(dirname(address.path), { recursive: true, force: true });
  }
  await server.close();
} catch (error) {
  const { message, fault } = error as Partial<StorageError>;
  tell({ failed: message ?? String(error), ...(fault && { fault }) });
}
if (process.connected) process.disconnect();
