import { afterEach, expect, it, vi } from 'vitest';
import type { TaskStore } from '../store/task-store.js';
import { type A2AServerOptions, createA2AServer } from './node.js';
import { systemClock } from './runtime.js';
import { MemoryStorage } from './storage.js';

afterEach(() => vi.unstubAllGlobals());

const agent = (prompt: string) => prompt;
const listen = (place: object, options: Pick<A2AServerOptions, 'storage' | 'taskStore'> = {}) =>
  createA2AServer({ agent, ...options }).listen(0, place);

it.each([0, 1.5, 257, '2', null])('refuses %s workers', async (workers) => {
  await expect(listen({ workers })).rejects.toThrow('listen: workers: must be a whole number from 1 to 256, or max');
});

it('refuses unknown options', async () => {
  await expect(listen({ hostname: '127.0.0.1' })).rejects.toThrow(/listen: .*hostname/);
});

it('refuses workers for storages that processes cannot share', async () => {
  const storage = new MemoryStorage({ clock: systemClock });
  await expect(listen({ workers: 2 }, { storage })).rejects.toThrow('workers: need a storage of openStorage');
  const taskStore = { get: () => {}, update: () => {}, list: () => {} } as unknown as TaskStore;
  await expect(listen({ workers: 2 }, { taskStore })).rejects.toThrow(
    'workers: go with a storage, not with a taskStore',
  );
});

it('refuses workers for an address without protection', async () => {
  await expect(listen({ workers: 2, host: '0.0.0.0' })).rejects.toThrow('anybody could call');
});

it('refuses workers on Deno', async () => {
  const server = createA2AServer({ agent });
  vi.stubGlobal('Deno', {});
  await expect(server.listen(0, { workers: 2 })).rejects.toThrow('workers: need Node.js');
});

it('listens in this process with one worker', async () => {
  const server = createA2AServer({ agent });
  const { url } = await server.listen(0, { workers: 1, host: '127.0.0.1' });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await expect(server.listen(0, { workers: 1 })).rejects.toThrow('listens already');
  await server.close();
});
