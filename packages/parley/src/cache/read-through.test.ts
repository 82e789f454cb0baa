import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { CacheError } from '../errors/cache-error.js';
import type { AnswerCache } from './answer-cache.js';
import { MemoryCache } from './memory/memory-cache.js';
import { ReadThrough } from './read-through.js';

const failing: AnswerCache = {
  get: () => Promise.reject(new CacheError('gone')),
  set: () => Promise.reject(new CacheError('gone')),
  invalidate: () => Promise.reject(new CacheError('gone')),
  close: async () => {},
};

describe('a read through a cache', () => {
  it('makes a text once, and again when its time is over', async () => {
    const clock = new ManualClock();
    const texts = new ReadThrough({ cache: new MemoryCache({ clock }), ttlMs: 1_000 });
    let made = 0;
    const make = () => `text ${++made}`;
    expect(await texts.text('a', make)).toBe('text 1');
    expect(await texts.text('a', make)).toBe('text 1');
    await clock.advance(1_000);
    expect(await texts.text('a', make)).toBe('text 2');
    expect(texts.figures).toEqual({ hits: 1, misses: 2, operations: 5 });
  });

  it('makes the text where the cache fails, and counts that as a miss', async () => {
    const texts = new ReadThrough({ cache: failing, ttlMs: 1_000 });
    expect(await texts.text('a', () => 'made')).toBe('made');
    expect(texts.figures).toMatchObject({ hits: 0, misses: 1 });
  });

  it('does not wait for the cache to write', async () => {
    const texts = new ReadThrough({
      cache: { ...failing, get: async () => undefined, set: () => new Promise(() => {}) },
      ttlMs: 1_000,
    });
    expect(await texts.text('a', () => 'made')).toBe('made');
  });

  it('tells who invalidates or warms up when the cache fails', async () => {
    const texts = new ReadThrough({ cache: failing, ttlMs: 1_000 });
    await expect(texts.invalidate('*')).rejects.toThrow(CacheError);
    await expect(texts.keep('a', 'b')).rejects.toThrow(CacheError);
  });
});
