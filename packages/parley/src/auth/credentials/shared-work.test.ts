import { describe, expect, it } from 'vitest';
import { SharedWork } from './shared-work.js';

/** Work that the test ends, with its signals. */
function createSharedWork() {
  const runs: { readonly signal: AbortSignal; readonly end: (result: string) => void }[] = [];
  const work = new SharedWork<string>((signal) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    runs.push({ signal, end: resolve });
    return promise;
  });
  return { work, runs };
}

describe('shared work', () => {
  it('runs once for all callers who wait for it', async () => {
    const { work, runs } = createSharedWork();
    const results = [work.join(undefined), work.join(undefined)];
    expect(work.isRunning).toBe(true);
    runs[0]?.end('done');
    expect(await Promise.all(results)).toEqual(['done', 'done']);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.signal.aborted).toBe(false);
    expect(work.isRunning).toBe(false);
  });

  it('goes on when one of two callers leaves, and is aborted when the last one leaves', async () => {
    const { work, runs } = createSharedWork();
    const [first, second] = [new AbortController(), new AbortController()];
    const waits = [work.join(first.signal), work.join(second.signal)];
    first.abort(new Error('first has left'));
    await expect(waits[0]).rejects.toThrow('first has left');
    expect(runs[0]?.signal.aborted).toBe(false);
    second.abort(new Error('second has left'));
    await expect(waits[1]).rejects.toThrow('second has left');
    expect(runs[0]?.signal.aborted).toBe(true);
  });

  it('begins anew after all have left, and its end does not end the new one', async () => {
    const { work, runs } = createSharedWork();
    const leaver = new AbortController();
    const left = work.join(leaver.signal);
    leaver.abort();
    await expect(left).rejects.toThrow();
    const next = work.join(undefined);
    expect(runs).toHaveLength(2);
    runs[0]?.end('old');
    await Promise.resolve();
    expect(work.isRunning).toBe(true);
    runs[1]?.end('new');
    expect(await next).toBe('new');
    expect(runs[1]?.signal.aborted).toBe(false);
  });

  it('is not begun for a caller who has left before', async () => {
    const { work, runs } = createSharedWork();
    await expect(work.join(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(runs).toHaveLength(0);
  });
});
