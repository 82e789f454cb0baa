import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { SqliteFiles } from '../../../test/sqlite-files.js';
import { systemClock } from '../../exports/runtime.js';
import type { Task } from '../../model/task.js';
import { LogRecord } from '../../task/log-record.js';
import { silentLogger } from '../../telemetry/logger.js';
import type { ServedFile } from '../file-owner.js';
import { connectRemoteStorage } from '../remote/remote-storage.js';
import { StorageServer } from '../remote/storage-server.js';
import type { Acceptance, AcceptOutcome, TaskStorage } from '../task-storage.js';
import { SharedSqlite } from './shared-sqlite.js';
import { openServedSqlite } from './sqlite-storage.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const scope = { agent: 'test', tenant: '', owner: null };
const task = (id: string): Task => ({ id, contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } });
const lease = (node: string) => ({ node, leaseMs: 60_000 });
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } as const;

function acceptance(id: string, node: string): Acceptance {
  const caller = { version: '1.0', binding: 'JSONRPC', extensions: [] } as unknown as Acceptance['caller'];
  return { scope, message, caller, task: { create: task(id) }, claim: lease(node), waitingLimit: 16 };
}

/** Appends a working status to a new task. */
async function work(storage: TaskStorage, id: string, outcome: AcceptOutcome): Promise<void> {
  if (outcome.kind !== 'accepted' || outcome.claim === undefined) throw new Error(outcome.kind);
  const status = { state: 'TASK_STATE_WORKING' } as const;
  const records = [new LogRecord(2, 1, { statusUpdate: { taskId: id, contextId: 'c', status } })];
  const { epoch } = outcome.claim;
  await storage.append({
    key: { scope, id },
    authority: epoch,
    after: 1,
    records,
    head: { status, metadata: undefined },
  });
}

/** `onWrite`: awaited before each commit. */
async function serveFile(
  path: string,
  address: { path: string; token: string },
  { processes, onWrite }: { readonly processes?: number; readonly onWrite?: () => Promise<void> } = {},
) {
  const leases = processes === undefined ? 'void' : 'keep';
  const { storage, file } = await openServedSqlite(files.options(systemClock, { path, leases }));
  const slow: ServedFile = {
    ...file,
    write: async (batches) => {
      await onWrite?.();
      return file.write(batches);
    },
  };
  const options = { storage, file: slow, ...address, ...(processes !== undefined && { processes }) };
  const server = await StorageServer.listen({ ...options, clock: systemClock, logger: silentLogger });
  onTestFinished(() => server.close());
  return server;
}

async function connectTo(address: { path: string; token: string }): Promise<TaskStorage> {
  const storage = await connectRemoteStorage({
    ...address,
    clock: systemClock,
    openFile: (owner, remote) =>
      new SharedSqlite({ owner, remote, clock: systemClock, logger: silentLogger, worker: files.worker }),
  });
  onTestFinished(() => storage.close());
  return storage;
}

const newAddress = () => ({ path: join(files.folder, randomUUID()), token: randomUUID() });

it('a process reads at once what another one has written', async () => {
  const address = newAddress();
  await serveFile(files.fresh(), address);
  const [one, other] = [await connectTo(address), await connectTo(address)];
  for (let at = 0; at < 100; at++) {
    const id = `t${at}`;
    const outcome = await one.accept(acceptance(id, 'one'));
    expect((await other.task(scope, id))?.task).toEqual(task(id));
    await work(one, id, outcome);
    expect(await other.heads([{ scope, id }])).toMatchObject([{ seq: 2, state: 'TASK_STATE_WORKING' }]);
  }
});

it('a process that looks at a task is told of every change by another process after that', async () => {
  const address = newAddress();
  await serveFile(files.fresh(), address);
  const [one, other] = [await connectTo(address), await connectTo(address)];
  const changed = vi.fn();
  other.wakeups.subscribe({ taskChanged: ({ id }) => changed(id) });
  const [first, second] = [await one.accept(acceptance('t1', 'one')), await one.accept(acceptance('t2', 'one'))];
  await other.task(scope, 't1');
  // The task may have changed since the read.
  await vi.waitFor(() => expect(changed).toHaveBeenCalledWith('t1'), 15_000);
  changed.mockClear();
  await work(one, 't2', second);
  await work(one, 't1', first);
  await vi.waitFor(() => expect(changed.mock.calls).toEqual([['t1']]), 15_000);
});

it('the turns of a process that has ended together with the owner can be claimed when the others are back', async () => {
  const [address, path] = [newAddress(), files.fresh()];
  const owner = await serveFile(path, address);
  const [gone, other] = [await connectTo(address), await connectTo(address)];
  await gone.accept(acceptance('t1', 'gone'));
  await other.accept(acceptance('t2', 'other'));
  await owner.close();
  await gone.close();
  await serveFile(path, address, { processes: 2 });
  const request = { ...lease('new'), agents: ['test'], limit: 10 };
  const claimTasks = async (storage: TaskStorage) =>
    (await storage.claim(request)).claims.map((claim) => claim.task.id);
  // The other process is back alone.
  expect(await claimTasks(other)).toEqual([]);
  const next = await connectTo(address);
  await vi.waitFor(async () => expect(await claimTasks(next)).toEqual(['t1']), 15_000);
  expect(await claimTasks(next)).toEqual([]);
});

it('processes that are back after a restart of the owner keep all their turns', async () => {
  const [address, path] = [newAddress(), files.fresh()];
  const owner = await serveFile(path, address);
  const [gone, ...others] = [await connectTo(address), await connectTo(address), await connectTo(address)];
  await gone.accept(acceptance('t', 'gone'));
  for (const [at, other] of others.entries()) await other.accept(acceptance(`t${at}`, `other ${at}`));
  await owner.close();
  await gone.close();
  await serveFile(path, address, { processes: others.length });
  // Once the turn of the process that has ended can be claimed, all leases that end have ended.
  const request = { ...lease('new'), agents: ['test'], limit: 10 };
  const claimed: string[] = [];
  await vi.waitFor(async () => {
    for (const other of others) claimed.push(...(await other.claim(request)).claims.map((claim) => claim.task.id));
    expect(claimed).toContain('t');
  }, 15_000);
  expect(claimed).toEqual(['t']);
});

it('reads the file that a new owner has at the path, once it can be opened', async () => {
  const [address, path] = [newAddress(), files.fresh()];
  const owner = await serveFile(path, address);
  const storage = await connectTo(address);
  await storage.accept(acceptance('old', 'one'));
  const query = { scope, orderBy: 'status', limit: 10, artifacts: false, history: false } as const;
  expect((await storage.tasks(query)).total).toBe(1);
  await owner.close();
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
  mkdirSync(path);
  // An owner whose file cannot be opened: the process comes back again and again.
  const facts = Buffer.from(JSON.stringify([{ durability: 'power-loss', file: path }]));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(facts.length);
  const arrived = vi.fn();
  const early = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.write(Buffer.concat([length, facts]), arrived));
  });
  rmSync(address.path, { force: true });
  early.listen(address.path);
  await vi.waitFor(() => expect(arrived.mock.calls.length).toBeGreaterThan(2), 15_000);
  early.close();
  rmSync(path, { recursive: true });
  await serveFile(path, address, { processes: 1 });
  await vi.waitFor(async () => expect(await storage.task(scope, 'old')).toBeUndefined(), 15_000);
  await storage.accept(acceptance('new', 'one'));
  expect((await storage.tasks(query)).tasks.map(({ task: { id } }) => id)).toEqual(['new']);
});

it('deliveries of a process stay its own when another process ends', async () => {
  const address = newAddress();
  await serveFile(files.fresh(), address);
  const [sender, gone, other] = [await connectTo(address), await connectTo(address), await connectTo(address)];
  const pushConfig = { id: 'hook', url: 'https://example.com/hook' };
  await gone.accept({ ...acceptance('t1', 'gone'), pushConfig });
  const request = { agents: ['test'], limit: 9, maxBytes: 100_000 };
  expect((await sender.push.claim({ ...request, ...lease('sender') })).claims).toHaveLength(1);
  await gone.close();
  // The turn of that process can be claimed once its leases have ended.
  const turns = async () => (await other.claim({ ...lease('other'), agents: ['test'], limit: 9 })).claims;
  await vi.waitFor(async () => expect(await turns()).toHaveLength(1), 15_000);
  expect((await other.push.claim({ ...request, ...lease('other') })).claims).toEqual([]);
});

it('while a disk is slow, calls of all processes wait for few commits, and what needs no disk is answered', async () => {
  const address = newAddress();
  const disk = Promise.withResolvers<void>();
  const onWrite = vi.fn(() => disk.promise);
  await serveFile(files.fresh(), address, { onWrite });
  const processes = [await connectTo(address), await connectTo(address)];
  const accepted = processes.flatMap((storage, at) =>
    Array.from({ length: 500 }, (_, number) => storage.accept(acceptance(`${at} ${number}`, String(at)))),
  );
  await vi.waitFor(() => expect(onWrite).toHaveBeenCalled(), 15_000);
  for (const storage of processes) {
    await storage.heartbeat({ node: 'n', agents: ['test'], runningTurns: 0 });
    expect(await storage.rateCounters?.take([{ key: 'k', requests: 9, windowMs: 60_000, wanted: 1 }])).toHaveLength(1);
    expect(await storage.task(scope, '0 0')).toBeUndefined();
  }
  disk.resolve();
  for (const { kind } of await Promise.all(accepted)) expect(kind).toBe('accepted');
  expect(onWrite.mock.calls.length).toBeLessThanOrEqual(4);
});
