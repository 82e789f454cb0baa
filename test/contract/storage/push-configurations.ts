import { describe, expect, it } from 'vitest';
import { ALICE, acceptance, LEASE, newTask, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

/** The contract of push configurations. */
export function pushConfigurationsContract(open: OpenStorage): void {
  describe('push configurations', () => {
    const tested = useStorage(open);
    const config = (id: string, more = {}) => ({ id, taskId: 't1', url: `https://example.com/${id}`, ...more });

    it('are several for a task, replaced by id (Spec §3.1.7, §4.3.1)', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      const secret = { authentication: { scheme: 'Bearer', credentials: 's' }, token: 't', tenant: 'x' };
      expect(await storage.push.putConfig(ALICE, config('a', secret))).toBe('put');
      expect(await storage.push.putConfig(ALICE, config('b'))).toBe('put');
      expect(await storage.push.config(ALICE, 't1', 'a')).toEqual(config('a', secret));
      await storage.push.putConfig(ALICE, config('a', { token: 'other' }));
      expect(await storage.push.configs(ALICE, 't1', { limit: 10 })).toEqual([
        config('a', { token: 'other' }),
        config('b'),
      ]);
      expect(await storage.push.config(ALICE, 't1', 'c')).toBeUndefined();
    });

    it('keep the protocol version in which they were registered', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      await storage.push.putConfig(ALICE, config('a', { registeredIn: '0.3' }));
      expect(await storage.push.config(ALICE, 't1', 'a')).toEqual(config('a', { registeredIn: '0.3' }));
    });

    it('are listed by id, page by page (Spec §3.1.9)', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      for (const id of ['d', 'b', 'e', 'a', 'c']) await storage.push.putConfig(ALICE, config(id));
      const page = async (limit: number, cursor?: string) =>
        (await storage.push.configs(ALICE, 't1', { limit, ...(cursor && { cursor }) }))?.map(({ id }) => id);
      expect(await page(2)).toEqual(['a', 'b']);
      expect(await page(2, 'b')).toEqual(['c', 'd']);
      expect(await page(2, 'bb')).toEqual(['c', 'd']);
      expect(await page(2, 'd')).toEqual(['e']);
      expect(await page(2, 'e')).toEqual([]);
    });

    it('are deleted for good, and again without harm (Spec §3.1.10)', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      await storage.push.putConfig(ALICE, config('a'));
      expect(await storage.push.deleteConfig(ALICE, 't1', 'a')).toBe(true);
      expect(await storage.push.deleteConfig(ALICE, 't1', 'a')).toBe(true);
      expect(await storage.push.configs(ALICE, 't1', { limit: 10 })).toEqual([]);
    });

    it('are at most so many for a task, also if several come at once', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      const put = await Promise.all(ids.map((id) => storage.push.putConfig(ALICE, config(id), 2)));
      expect(put.filter((result) => result === 'put')).toHaveLength(2);
      expect(put.filter((result) => result === 'full')).toHaveLength(4);
      const kept = await storage.push.configs(ALICE, 't1', { limit: 10 });
      expect(kept).toHaveLength(2);
      const [first] = kept?.map(({ id }) => id) ?? [];
      expect(await storage.push.putConfig(ALICE, config(first ?? '', { token: 'new' }), 2)).toBe('put');
      expect(await storage.push.putConfig(ALICE, config('g'))).toBe('put');
      await storage.push.deleteConfig(ALICE, 't1', 'g');
      await storage.push.deleteConfig(ALICE, 't1', first ?? '');
      expect(await storage.push.putConfig(ALICE, config('h'), 2)).toBe('put');
    });

    it('are at most so many for a task, also those of messages, and a refused message leaves nothing', async () => {
      const { storage } = tested;
      await storage.create(ALICE, newTask(tested, 't1'));
      const idempotency = { key: 'k', digest: 'd', ttlMs: 1_000_000 };
      const send = (id: string, more = {}) => {
        const { taskId: _, ...pushConfig } = config(id);
        return storage.accept(acceptance(userMessage(`m${id}`), 't1', { pushConfig, pushConfigLimit: 2, ...more }));
      };
      const sent = await Promise.all(['a', 'b', 'c', 'd'].map((id) => send(id)));
      expect(sent.map(({ kind }) => kind).sort()).toEqual(['accepted', 'accepted', 'configs-full', 'configs-full']);
      expect(await send('e', { idempotency })).toEqual({ kind: 'configs-full' });
      expect(await storage.keys.recall(ALICE, 'k')).toBeUndefined();
      const kept = await storage.push.configs(ALICE, 't1', { limit: 10 });
      expect(kept).toHaveLength(2);
      expect(await send(kept?.[0]?.id ?? '')).toMatchObject({ kind: 'accepted', turn: 3 });
      expect(await storage.push.putConfig(ALICE, config('f'), 2)).toBe('full');
    });

    it('are rewritten in their place if they are still the same, and their queue stays as it is', async () => {
      const { storage } = tested;
      const { taskId: _, ...pushConfig } = config('a', { token: 'old' });
      const play = await TaskPlay.begin(tested, 't1', { pushConfig });
      await play.write([play.chunk('a')]);
      const claim = { ...LEASE, agents: ['test'], limit: 10, maxBytes: 100_000 };
      const [held] = (await storage.push.claim(claim)).claims;
      if (held === undefined) throw new Error('The queue was not claimed');
      await storage.push.settle(held, { kind: 'park', reason: 'gone', status: 410 });
      const before = await storage.push.queues({ limit: 10 });
      const queue = { key: held.key, configId: 'a' };
      const [from, to] = [config('a', { token: 'old' }), config('a', { token: 'new' })];
      const kept = (await storage.push.config(ALICE, 't1', 'a')) as typeof from;
      expect(await storage.push.rewriteConfig(queue, { from: { ...kept, token: 'other' }, to })).toBe(false);
      expect(await storage.push.rewriteConfig(queue, { from: kept, to })).toBe(true);
      expect(await storage.push.rewriteConfig(queue, { from: kept, to })).toBe(false);
      expect(await storage.push.config(ALICE, 't1', 'a')).toEqual(to);
      expect(await storage.push.queues({ limit: 10 })).toEqual(before);
      expect(before.queues[0]).toMatchObject({ parked: 'gone' });
      const missing = { ...from, id: 'none' };
      expect(await storage.push.rewriteConfig({ ...queue, configId: 'none' }, { from: missing, to: missing })).toBe(
        false,
      );
    });

    it('are read as they are now, after each way to change them', async () => {
      const { storage } = tested;
      const { push } = storage;
      const url = async (scope = ALICE, taskId = 't1') => (await push.config(scope, taskId, 'a'))?.url;
      const { taskId: _, ...pushConfig } = config('a');
      await TaskPlay.begin(tested, 't1', { pushConfig });
      expect([await url(), await url()]).toEqual([pushConfig.url, pushConfig.url]);
      expect(await url({ ...ALICE, owner: 'bob' })).toBeUndefined();
      await push.putConfig(ALICE, config('a', { url: 'https://put.test/' }));
      expect(await url()).toBe('https://put.test/');
      const next = { ...pushConfig, url: 'https://accepted.test/' };
      await storage.accept(acceptance(userMessage('next'), 't1', { pushConfig: next }));
      expect(await url()).toBe('https://accepted.test/');
      const to = config('a', { url: 'https://rewritten.test/' });
      const from = (await push.config(ALICE, 't1', 'a')) as typeof to;
      await push.rewriteConfig({ key: { scope: ALICE, id: 't1' }, configId: 'a' }, { from, to });
      expect(await url()).toBe('https://rewritten.test/');
      await push.deleteConfig(ALICE, 't1', 'a');
      expect(await url()).toBeUndefined();
      await storage.create(ALICE, newTask(tested, 't2'));
      await push.putConfig(ALICE, { ...config('a'), taskId: 't2' });
      expect(await url(ALICE, 't2')).toBeDefined();
      await storage.delete(ALICE, 't2');
      expect(await url(ALICE, 't2')).toBeUndefined();
    });

    it('need their task (Spec §3.1.8)', async () => {
      const { storage } = tested;
      expect(await storage.push.putConfig(ALICE, config('a'))).toBe('not-found');
      expect(await storage.push.config(ALICE, 't1', 'a')).toBeUndefined();
      expect(await storage.push.configs(ALICE, 't1', { limit: 10 })).toBeUndefined();
      expect(await storage.push.deleteConfig(ALICE, 't1', 'a')).toBe(false);
    });
  });
}
