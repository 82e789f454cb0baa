// Runs in each worker before the program: connects to the storage process, if there is one.
import cluster from 'node:cluster';
import { isMainThread } from 'node:worker_threads';
import type { FileOwner } from '../store/file-owner.js';
import { connectRemoteStorage, type RemoteStorage } from '../store/remote/remote-storage.js';
import { SharedSqlite } from '../store/sqlite/shared-sqlite.js';
import { SQLITE_WORKER } from './open-sqlite.js';
import { systemClock } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';
import { workerProcess } from './worker-process.js';
import { addressOfStorage } from './worker-storage.js';

// Threads and programs that the worker starts run this too.
const address = isMainThread && cluster.isWorker ? addressOfStorage() : undefined;
if (address !== undefined) {
  const { path, token, file, server } = address;
  const openFile = (owner: FileOwner, remote: RemoteStorage) =>
    new SharedSqlite({ owner, remote, clock: systemClock, logger: stderrLogger, worker: SQLITE_WORKER });
  workerProcess.storage = await connectRemoteStorage({ path, token, clock: systemClock, openFile });
  if (file !== undefined) workerProcess.path = file;
  if (server !== undefined) workerProcess.server = server;
}
