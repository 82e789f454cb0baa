import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerCache } from '../../packages/parley/src/cache/answer-cache.js';

/** Opens a cache that is empty. */
export type OpenCache = () => Promise<AnswerCache>;

/** The contract of every cache. */
export function cacheContract(name: string, open: OpenCache): void {
  describe(`the cache ${name}`, () => {
    let cache: AnswerCache;
    beforeEach(async () => {
      cache = await open();
    });
    afterEach(() => cache.close());

    it('gives back what was put under a key, any text, and the latest', async () => {
      expect(await cache.get('a')).toBeUndefined();
      for (const text of ['', '{"x":1}', 'Zoë 😀\u0000\n', 'long '.repeat(20_000)]) {
        await cache.set('a', text, 60_000);
        expect(await cache.get('a')).toBe(text);
      }
    });

    it('takes any text for a key', async () => {
      const keys = ['discover:http://127.0.0.1:8080/a?b', 'with space', 'Zoë', '*', '[a]', 'a\\b', 'keys', '__proto__'];
      for (const key of keys) await cache.set(key, `text of ${key}`, 60_000);
      for (const key of keys) expect(await cache.get(key)).toBe(`text of ${key}`);
      expect(await cache.invalidate('*')).toBe(keys.length);
    });

    it('forgets a text when its time is over', async () => {
      await cache.set('short', 'x', 1);
      await cache.set('long', 'y', 60_000);
      await expect.poll(() => cache.get('short')).toBeUndefined();
      expect(await cache.get('long')).toBe('y');
    });

    it('drops what a pattern matches, tells how many, and nothing else', async () => {
      for (const key of ['discover:1', 'discover:2', 'health:1']) await cache.set(key, 'x', 60_000);
      expect(await cache.invalidate('discover:*')).toBe(2);
      expect(await cache.invalidate('discover:*')).toBe(0);
      expect(await cache.get('discover:1')).toBeUndefined();
      expect(await cache.get('health:1')).toBe('x');
      expect(await cache.invalidate('health:[0-9]')).toBe(1);
    });

    it('takes any text for a pattern', async () => {
      await cache.set('a', 'x', 60_000);
      for (const pattern of ['', '[', '[^', '\\', '[]', '[a-', `${'a*'.repeat(200)}b`]) {
        await expect(cache.invalidate(pattern)).resolves.toBeLessThanOrEqual(1);
      }
    });

    it('does many things at once', async () => {
      const keys = Array.from({ length: 200 }, (_, at) => `k${at}`);
      await Promise.all(keys.map((key) => cache.set(key, key, 60_000)));
      expect(await Promise.all(keys.map((key) => cache.get(key)))).toEqual(keys);
      expect(await cache.invalidate('k*')).toBe(200);
    });
  });
}
