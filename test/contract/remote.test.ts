import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { Clock } from '../../packages/parley/src/runtime/clock.js';
import type { ServedFile } from '../../packages/parley/src/store/file-owner.js';
import { interceptedStorage } from '../../packages/parley/src/store/intercepted-storage.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { connectRemoteStorage } from '../../packages/parley/src/store/remote/remote-storage.js';
import { StorageServer } from '../../packages/parley/src/store/remote/storage-server.js';
import { SharedSqlite } from '../../packages/parley/src/store/sqlite/shared-sqlite.js';
import { openServedSqlite } from '../../packages/parley/src/store/sqlite/sqlite-storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { conversationContract } from './conversation-contract.js';
import { scopedTasksContract } from './scoped-tasks-contract.js';
import type { OpenStorage } from './storage/tested-storage.js';
import { storageContract } from './storage-contract.js';
import { turnContextContract } from './turn-context-contract.js';

const files = new SqliteFiles();
const folder = mkdtempSync(join(tmpdir(), 'parley-remote-'));
let count = 0;
afterAll(() => {
  files.remove();
  rmSync(folder, { recursive: true });
});

/**
 * Opens a storage behind a socket, which closes with its only client. A call runs at the time at which it was made.
 */
async function behindSocket(
  clock: Clock,
  openIn: (shown: Clock) => Promise<{ readonly storage: TaskStorage; readonly file?: ServedFile }>,
): Promise<TaskStorage> {
  count += 1;
  const address = { path: join(folder, String(count)), token: randomUUID() };
  let time = clock.now();
  const shown = { ...systemClock, now: () => time, monotonic: () => time };
  const opened = await openIn(shown);
  const server = await StorageServer.listen({ ...address, ...opened, clock: systemClock, logger: silentLogger });
  const remote = await connectRemoteStorage({
    ...address,
    clock: systemClock,
    openFile: (owner, owners) =>
      new SharedSqlite({ owner, remote: owners, clock: shown, logger: silentLogger, worker: files.worker }),
  });
  const running = new Set<unknown>();
  let gate: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;
  const closeBoth = async () => {
    await gate;
    await remote.close();
    await server.left();
    await server.close();
  };
  return interceptedStorage(remote, async (call, _args, run) => {
    if (call === 'close') {
      closing ??= closeBoth();
      return closing;
    }
    const madeAt = clock.now();
    gate = gate.then(async () => {
      if (time !== madeAt) await Promise.allSettled(running);
      time = madeAt;
    });
    await gate;
    const answer = Promise.resolve(run());
    running.add(answer);
    return answer.finally(() => running.delete(answer));
  });
}

const memory: OpenStorage = (clock, options) =>
  behindSocket(clock, async (shown) => ({ storage: new MemoryStorage({ clock: shown, ...options }) }));
const sqlite: OpenStorage = (clock, options) =>
  behindSocket(clock, (shown) => openServedSqlite(files.options(shown, options)));

for (const [name, open] of [
  ['memory of another process', memory],
  ['SQLite of another process', sqlite],
] as const) {
  storageContract(name, open);
  scopedTasksContract(name, open);
  conversationContract(name, open);
  // The calls fail before they reach the socket, so one kind of storage is enough.
  if (open === memory || process.env.TEST_LONG !== undefined) turnContextContract(name, open, { concurrent: true });
}
