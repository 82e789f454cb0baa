import { afterAll, expect, it } from 'vitest';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { resealConfigs } from '../../packages/parley/src/store/reseal-configs.js';
import { sealedStorage } from '../../packages/parley/src/store/sealed-storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { ALICE, LEASE, TaskPlay } from './storage/task-play.js';
import { StorageClock } from './storage/tested-storage.js';
import { storageContract } from './storage-contract.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const KEY = 'a'.repeat(64);
const NEXT = 'b'.repeat(64);
const sealStorage = (storage: TaskStorage, ...keys: string[]) => sealedStorage(storage, { keys, logger: silentLogger });

storageContract('memory with encrypted credentials', async (clock, options) =>
  sealStorage(new MemoryStorage({ clock, ...options }), KEY),
);
storageContract(
  'SQLite with encrypted credentials',
  async (clock, options) => sealStorage(await files.open(clock, options), KEY),
  { differsIn: 'secrets' },
);

const SECRETS = ['pl4nted-s3cret-url', 'pl4nted-s3cret-token', 'pl4nted-s3cret-credentials'];
const CONFIG = {
  id: 'hook',
  url: 'https://example.com/hook?key=pl4nted-s3cret-url',
  token: 'pl4nted-s3cret-token',
  authentication: { scheme: 'Bearer', credentials: 'pl4nted-s3cret-credentials' },
};
const CLAIM = { ...LEASE, agents: ['test'], limit: 10, maxBytes: 100_000 };

/** Creates a task with a configuration of its message, and with a later one. */
async function withConfigs(storage: TaskStorage, clock: StorageClock) {
  const play = await TaskPlay.begin({ storage, clock }, 't1', { pushConfig: CONFIG });
  await storage.push.putConfig(ALICE, { ...CONFIG, id: 'later', taskId: 't1' });
  await play.write([play.chunk('a')]);
  return play;
}

it('credentials are encrypted in the storage, and whole for the engine and the sender', async () => {
  const clock = new StorageClock();
  const raw = new MemoryStorage({ clock });
  const storage = sealStorage(raw, KEY);
  await withConfigs(storage, clock);
  const kept = JSON.stringify(await raw.push.configs(ALICE, 't1', { limit: 10 }));
  expect(kept.match(/parley-sealed/g)).toHaveLength(6);
  for (const secret of SECRETS) expect(kept).not.toContain(secret);
  expect(await storage.push.config(ALICE, 't1', 'hook')).toEqual({ ...CONFIG, taskId: 't1' });
  expect(await storage.push.configs(ALICE, 't1', { limit: 10 })).toMatchObject([CONFIG, { ...CONFIG, id: 'later' }]);
  const { claims } = await storage.push.claim(CLAIM);
  expect(claims.map(({ config }) => config)).toMatchObject([CONFIG, { ...CONFIG, id: 'later' }]);
  await storage.close();
});

it('a new first key takes over, and the old one still opens what it has encrypted', async () => {
  const clock = new StorageClock();
  const raw = new MemoryStorage({ clock });
  await withConfigs(sealStorage(raw, KEY), clock);
  const rotated = sealStorage(raw, NEXT, KEY);
  expect(await rotated.push.config(ALICE, 't1', 'hook')).toMatchObject(CONFIG);
  await rotated.push.putConfig(ALICE, { ...CONFIG, taskId: 't1' });
  expect(await sealStorage(raw, NEXT).push.config(ALICE, 't1', 'hook')).toMatchObject(CONFIG);
  await expect(sealStorage(raw, NEXT).push.config(ALICE, 't1', 'later')).rejects.toThrow('not configured');
  await raw.close();
});

it('credentials under earlier keys are encrypted again, so that the keys can go', async () => {
  const clock = new StorageClock();
  const raw = await files.open(clock, {});
  await withConfigs(sealStorage(raw, KEY), clock);
  await raw.push.putConfig(ALICE, { ...CONFIG, id: 'plain', taskId: 't1' });
  await raw.push.putConfig(ALICE, { id: 'open', taskId: 't1', url: 'https://example.com/open' });
  const [held] = (await raw.push.claim({ ...CLAIM, limit: 1 })).claims;
  if (held === undefined) throw new Error('no queue');
  await raw.push.settle(held, { kind: 'park', reason: 'gone', status: 410 });
  const parked = await raw.push.queues({ standing: 'parked', limit: 10 });
  expect(parked.queues).toHaveLength(1);
  expect(await resealConfigs(raw, { keys: [NEXT] })).toEqual({ current: 0, resealed: 2, old: 0, unreadable: 2 });
  const keys = [NEXT, KEY];
  expect(await resealConfigs(raw, { keys, dryRun: true })).toEqual({ current: 2, resealed: 0, old: 2, unreadable: 0 });
  expect(await resealConfigs(raw, { keys })).toEqual({ current: 2, resealed: 2, old: 0, unreadable: 0 });
  expect(await resealConfigs(raw, { keys: [NEXT] })).toEqual({ current: 4, resealed: 0, old: 0, unreadable: 0 });
  for (const id of ['hook', 'later', 'plain'])
    expect(await sealStorage(raw, NEXT).push.config(ALICE, 't1', id)).toMatchObject({ ...CONFIG, id });
  expect(await raw.push.queues({ standing: 'parked', limit: 10 })).toEqual(parked);
  await raw.close();
});

it('more configurations than a page are encrypted again', async () => {
  const clock = new StorageClock();
  const raw = new MemoryStorage({ clock });
  await withConfigs(sealStorage(raw, KEY), clock);
  for (let at = 0; at < 250; at++)
    await sealStorage(raw, KEY).push.putConfig(ALICE, { ...CONFIG, id: `c${at}`, taskId: 't1' });
  expect(await resealConfigs(raw, { keys: [NEXT, KEY] })).toMatchObject({ resealed: 252, old: 0 });
  expect(await resealConfigs(raw, { keys: [NEXT] })).toMatchObject({ current: 252, unreadable: 0 });
  await raw.close();
});

it('credentials from before there were keys are read as they are', async () => {
  const clock = new StorageClock();
  const raw = new MemoryStorage({ clock });
  await withConfigs(raw, clock);
  expect(await sealStorage(raw, KEY).push.config(ALICE, 't1', 'hook')).toMatchObject(CONFIG);
  await raw.close();
});

it.each([
  ['a missing key', [NEXT]],
  ['no key', []],
])('with %s, deliveries are parked with the reason, and those of others go on', async (_, keys) => {
  const clock = new StorageClock();
  const raw = new MemoryStorage({ clock });
  const play = await withConfigs(sealStorage(raw, KEY), clock);
  await raw.push.putConfig(ALICE, { id: 'open', taskId: 't1', url: 'https://example.com/open' });
  await play.write([play.chunk('b')]);
  const logger = new CapturingLogger();
  const storage = sealedStorage(raw, { keys, logger });
  const { claims } = await storage.push.claim(CLAIM);
  expect(claims.map(({ configId }) => configId)).toEqual(['open']);
  const { queues } = await storage.push.queues({ agents: ['test'], limit: 10, standing: 'parked' });
  expect(queues.map(({ configId }) => configId)).toEqual(['hook', 'later']);
  for (const { parked } of queues)
    expect(parked).toMatch(/^A secret is encrypted with the key [\da-f]{16}, which is not/);
  await expect(storage.push.config(ALICE, 't1', 'hook')).rejects.toThrow('Add it to secretKeys');
  expect(JSON.stringify(logger)).not.toMatch(/s3cret/);
  // A replay after the return of the key delivers all events.
  const again = sealStorage(raw, KEY);
  for (const { key, configId } of queues) expect(await again.push.replay({ key, configId })).toBe('replayed');
  expect((await again.push.claim(CLAIM)).claims).toHaveLength(2);
  await raw.close();
});

it('a configuration that was copied to another task or owner does not open', async () => {
  const clock = new StorageClock();
  const raw = new MemoryStorage({ clock });
  const storage = sealStorage(raw, KEY);
  await withConfigs(storage, clock);
  await TaskPlay.begin({ storage, clock }, 't2');
  const stolen = await raw.push.config(ALICE, 't1', 'hook');
  await raw.push.putConfig(ALICE, { ...stolen, url: 'https://evil.example', id: 'hook', taskId: 't2' });
  await expect(storage.push.config(ALICE, 't2', 'hook')).rejects.toThrow('was changed or moved');
  await raw.close();
});
