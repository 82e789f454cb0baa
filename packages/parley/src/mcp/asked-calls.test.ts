import { describe, expect, it } from 'vitest';
import { AskedCalls } from './asked-calls.js';

/** A call that ends on demand. */
function begun(calls: AskedCalls<string>, name: string) {
  const end = Promise.withResolvers<string>();
  const stop = new AbortController();
  const events: string[] = [];
  const result = calls
    .run(name, {
      signal: stop.signal,
      perform: () => {
        events.push('began');
        return end.promise;
      },
      settle: async () => {},
      isAnswer: () => false,
    })
    .then(
      (value) => value,
      (error: Error) => `failed: ${error.message}`,
    );
  return { ...end, result, stop, events };
}

describe('a question that names no call', () => {
  it('belongs to the only call that runs', async () => {
    const calls = new AskedCalls<string>();
    const one = begun(calls, 'one');
    expect(await calls.asked()).toBe('one');
    one.resolve('done');
    expect(await one.result).toBe('done');
  });

  it('waits until the other calls have their results', async () => {
    const calls = new AskedCalls<string>();
    const [one, other] = [begun(calls, 'one'), begun(calls, 'other')];
    const asked = calls.asked();
    one.resolve('done');
    expect(await one.result).toBe('done');
    expect(await asked).toBe('other');
    other.resolve('done');
  });

  it('belongs to no call if one was given up meanwhile, because it may be the question of that one', async () => {
    const calls = new AskedCalls<string>();
    const [one, other] = [begun(calls, 'one'), begun(calls, 'other')];
    const asked = calls.asked();
    one.reject(new Error('timeout'));
    expect(await one.result).toBe('failed: timeout');
    expect(await asked).toBeUndefined();
    other.resolve('done');
    expect(await other.result).toBe('done');
  });

  it('belongs to no call if none runs', async () => {
    expect(await new AskedCalls<string>().asked()).toBeUndefined();
  });

  it('is asked again, by one call after another, if each of them asks at the same time', async () => {
    const calls = new AskedCalls<string>();
    const running: PromiseWithResolvers<string>[] = [];
    const both = ['one', 'other'].map((name) =>
      calls.run(name, {
        signal: new AbortController().signal,
        perform: () => {
          const end = Promise.withResolvers<string>();
          running.push(end);
          return end.promise;
        },
        settle: async () => {},
        isAnswer: (error) => error === 'dismissed',
      }),
    );
    expect(await Promise.all([calls.asked(), calls.asked()])).toEqual([undefined, undefined]);
    running[0]?.resolve('dismissed');
    running[1]?.reject('dismissed');
    await expect.poll(() => running.length).toBe(3);
    expect(await calls.asked()).toBe('one');
    running[2]?.resolve('first');
    await expect.poll(() => running.length).toBe(4);
    expect(await calls.asked()).toBe('other');
    running[3]?.resolve('second');
    expect(await Promise.all(both)).toEqual(['first', 'second']);
  });

  it('makes later calls wait for each other, and one that is stopped meanwhile does not begin', async () => {
    const calls = new AskedCalls<string>();
    const one = begun(calls, 'one');
    await calls.asked();
    const [stopped, next] = [begun(calls, 'stopped'), begun(calls, 'next')];
    stopped.stop.abort(new Error('stopped'));
    expect(next.events).toEqual([]);
    one.resolve('done');
    expect(await stopped.result).toBe('failed: stopped');
    expect(stopped.events).toEqual([]);
    await expect.poll(() => next.events).toEqual(['began']);
    next.resolve('done');
    expect(await next.result).toBe('done');
  });
});
