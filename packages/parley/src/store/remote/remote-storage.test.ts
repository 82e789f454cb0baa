import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../exports/runtime.js';
import type { Task } from '../../model/task.js';
import { silentLogger } from '../../telemetry/logger.js';
import { interceptedStorage } from '../intercepted-storage.js';
import { MemoryStorage } from '../memory/memory-storage.js';
import type { Acceptance, TaskStorage } from '../task-storage.js';
import { connectRemoteStorage } from './remote-storage.js';
import { StorageServer } from './storage-server.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-remote-'));
afterAll(() => rmSync(folder, { recursive: true }));

const scope = { agent: 'test', tenant: '', owner: null };
const task = (id: string): Task => ({ id, contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } });
const lease = (node: string) => ({ node, leaseMs: 60_000 });
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } as const;

function acceptance(id: string, node: string): Acceptance {
  const caller = { version: '1.0', binding: 'JSONRPC', extensions: [] } as unknown as Acceptance['caller'];
  return { scope, message, caller, task: { create: task(id) }, claim: lease(node), waitingLimit: 16 };
}

async function serveStorage(storage: TaskStorage, address = { path: join(folder, randomUUID()), token: randomUUID() }) {
  const server = await StorageServer.listen({ ...address, storage, clock: systemClock, logger: silentLogger });
  onTestFinished(() => server.close());
  const client = async (): Promise<TaskStorage> => {
    const openFile = () => {
      throw new Error('Memory has no file');
    };
    const remote = await connectRemoteStorage({ ...address, clock: systemClock, openFile });
    onTestFinished(() => remote.close());
    return remote;
  };
  return { server, address, client };
}

it('a process without the token is cut, and gets no answer', async () => {
  const { address } = await serveStorage(new MemoryStorage({ clock: systemClock }));
  for (const first of ['["wrong"]', '[[0,"now",[]]]', 'x'.repeat(5_000), '']) {
    const socket = connect(address.path);
    const got: Buffer[] = [];
    socket.on('data', (chunk) => got.push(chunk)).on('error', () => {});
    const frame = Buffer.alloc(4 + first.length);
    frame.writeUInt32LE(first.length);
    frame.write(first, 4);
    socket.write(frame);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(got).toEqual([]);
  }
});

it('wake-ups do not pile up for a process that does not read', async () => {
  const storage = new MemoryStorage({ clock: systemClock });
  const { address } = await serveStorage(storage);
  const socket = connect(address.path);
  onTestFinished(() => void socket.destroy());
  const token = JSON.stringify([address.token]);
  const frame = Buffer.alloc(4 + token.length);
  frame.writeUInt32LE(token.length);
  frame.write(token, 4);
  socket.write(frame);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  const key = { scope, id: 'x'.repeat(100) };
  for (let round = 0; round < 100; round++) {
    for (let count = 0; count < 1_000; count++) storage.wakeups.taskChanged(key);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const got: Buffer[] = [];
  socket.on('data', (chunk) => got.push(chunk)).resume();
  // It arrives after all entries that waited, unless it is dropped too.
  await vi.waitFor(() => {
    storage.wakeups.workReady('last');
    expect(got.at(-1)?.includes('last')).toBe(true);
  }, 15_000);
  expect(Buffer.concat(got).length).toBeLessThan(4_000_000);
});

it('calls whose answers are lost are made again by the next storage process, as repetitions', async () => {
  const storage = new MemoryStorage({ clock: systemClock });
  const silent = interceptedStorage(storage, async (call, _args, run) => {
    // The process ends without its storage.
    if (call === 'close') return;
    await run();
    return new Promise(() => {});
  });
  const first = await serveStorage(silent);
  const remote = await first.client();
  const accepted = remote.accept(acceptance('t1', 'a'));
  const created = expect(remote.create(scope, task('t2'))).rejects.toThrow('The storage process has ended');
  const time = remote.now();
  await vi.waitFor(async () => expect(await storage.task(scope, 't2')).toBeDefined(), 15_000);
  await first.server.close();
  await created;
  const again = new MemoryStorage({ clock: systemClock });
  const seen: unknown[] = [];
  await serveStorage(
    interceptedStorage(again, (call, args, run) => {
      if (call === 'accept') seen.push((args[0] as Acceptance).again);
      return run();
    }),
    first.address,
  );
  expect(await accepted).toMatchObject({ kind: 'accepted', turn: 1, claim: { message, task: task('t1') } });
  expect(await time).toBeGreaterThan(0);
  expect(seen).toEqual([true]);
});

it('the turns of a process that ends can be claimed at once, and its late writes are refused', async () => {
  const { client } = await serveStorage(new MemoryStorage({ clock: systemClock }));
  const [one, other] = [await client(), await client()];
  const ready = vi.fn();
  other.wakeups.subscribe({ workReady: ready });
  const outcome = await one.accept(acceptance('t1', 'one'));
  const request = { ...lease('other'), agents: ['test'], limit: 10 };
  expect((await other.claim(request)).claims).toEqual([]);
  await one.close();
  await vi.waitFor(() => expect(ready).toHaveBeenCalledWith('test'), 15_000);
  const { claims } = await other.claim(request);
  expect(claims).toMatchObject([{ task: { id: 't1' }, turn: 1, attempt: 2 }]);
  expect(outcome).toMatchObject({ claim: { epoch: 1 } });
  expect(claims[0]?.epoch).toBe(2);
});

it('a large answer and many calls at once come whole and in order', async () => {
  const { client } = await serveStorage(new MemoryStorage({ clock: systemClock }));
  const remote = await client();
  const text = 'é'.repeat(3_000_000);
  const long = { ...task('long'), history: [{ ...message, parts: [{ text }] }] };
  expect(await remote.create(scope, long)).toBe(true);
  const order: number[] = [];
  const reads = Array.from({ length: 6_000 }, (_, at) => remote.now().then(() => order.push(at)));
  const stored = await remote.task(scope, 'long');
  await Promise.all(reads);
  expect(stored?.task).toEqual(long);
  expect(order).toEqual([...order].sort((a, b) => a - b));
});
