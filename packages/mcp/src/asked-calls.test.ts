import { describe, expect, it } from 'vitest';
import { AskedCalls } from './asked-calls.js';

/** The calls of a server. `renewals` has an entry for each end of its connection. */
function askedCalls(renewals: string[] = []) {
  return new AskedCalls<string>(async () => void renewals.push('ended'));
}

/** A call that ends on demand. */
function beginCall(calls: AskedCalls<string>, name: string, { isAlone = false, isIdempotent = false } = {}) {
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
      isLeft: () => true,
      isAlone,
      isIdempotent,
    })
    .then(
      (value) => value,
      (error: Error) => `failed: ${error.message}`,
    );
  return { ...end, result, stop, events };
}

describe('a question that names no call', () => {
  it('belongs to the only call that runs', async () => {
    const calls = askedCalls();
    const one = beginCall(calls, 'one');
    expect(await calls.callOfQuestion()).toBe('one');
    one.resolve('done');
    expect(await one.result).toBe('done');
  });

  it('waits until the other calls have their results', async () => {
    const calls = askedCalls();
    const [one, other] = [beginCall(calls, 'one'), beginCall(calls, 'other')];
    const asked = calls.callOfQuestion();
    one.resolve('done');
    expect(await one.result).toBe('done');
    expect(await asked).toBe('other');
    other.resolve('done');
  });

  it('belongs to no call if one was given up meanwhile, because it may be the question of that one', async () => {
    const calls = askedCalls();
    const [one, other] = [beginCall(calls, 'one'), beginCall(calls, 'other')];
    const asked = calls.callOfQuestion();
    one.reject(new Error('timeout'));
    expect(await one.result).toBe('failed: timeout');
    expect(await asked).toBeUndefined();
    other.resolve('done');
    expect(await other.result).toBe('done');
  });

  it('belongs to no call if none runs', async () => {
    expect(await askedCalls().callOfQuestion()).toBeUndefined();
  });

  it('is asked again, by one call after another, if each of them asks at the same time', async () => {
    const calls = askedCalls();
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
        isLeft: () => false,
        isAlone: false,
        isIdempotent: true,
      }),
    );
    expect(await Promise.all([calls.callOfQuestion(), calls.callOfQuestion()])).toEqual([undefined, undefined]);
    running[0]?.resolve('dismissed');
    running[1]?.reject('dismissed');
    await expect.poll(() => running.length).toBe(3);
    expect(await calls.callOfQuestion()).toBe('one');
    running[2]?.resolve('first');
    await expect.poll(() => running.length).toBe(4);
    expect(await calls.callOfQuestion()).toBe('other');
    running[3]?.resolve('second');
    expect(await Promise.all(both)).toEqual(['first', 'second']);
  });

  it('makes later calls wait for each other, and one that is stopped meanwhile does not begin', async () => {
    const calls = askedCalls();
    const one = beginCall(calls, 'one');
    await calls.callOfQuestion();
    const [stopped, next] = [beginCall(calls, 'stopped'), beginCall(calls, 'next')];
    stopped.stop.abort(new Error('stopped'));
    expect(next.events).toEqual([]);
    one.resolve('done');
    expect(await stopped.result).toBe('failed: stopped');
    expect(stopped.events).toEqual([]);
    await expect.poll(() => next.events).toEqual(['began']);
    next.resolve('done');
    expect(await next.result).toBe('done');
  });

  it('repeats no call that is not idempotent: its result is that of the server', async () => {
    const calls = askedCalls();
    const [one, other] = [beginCall(calls, 'one'), beginCall(calls, 'other')];
    expect(await Promise.all([calls.callOfQuestion(), calls.callOfQuestion()])).toEqual([undefined, undefined]);
    one.resolve('no');
    other.resolve('done');
    expect(await Promise.all([one.result, other.result])).toEqual(['no', 'done']);
    expect([one.events, other.events]).toEqual([['began'], ['began']]);
  });
});

describe('a question after a call was given up', () => {
  it('may be of that call: it is dismissed, and the connection ends before the next call', async () => {
    const renewals: string[] = [];
    const calls = askedCalls(renewals);
    const left = beginCall(calls, 'left');
    left.reject('canceled');
    await left.result;
    const next = beginCall(calls, 'next');
    await expect.poll(() => next.events).toEqual(['began']);
    expect(renewals).toEqual([]);
    expect(await calls.callOfQuestion()).toBeUndefined();
    const last = beginCall(calls, 'last');
    next.resolve('done');
    expect(await next.result).toBe('done');
    await expect.poll(() => last.events).toEqual(['began']);
    expect(renewals).toEqual(['ended']);
    expect(await calls.callOfQuestion()).toBe('last');
    last.resolve('done');
    await last.result;
    expect(renewals).toEqual(['ended']);
  });
});

describe('a call that must be alone', () => {
  it('waits for the calls before it, and the calls after it wait', async () => {
    const calls = askedCalls();
    const [first, second] = [beginCall(calls, 'first'), beginCall(calls, 'second')];
    const alone = beginCall(calls, 'alone', { isAlone: true });
    const last = beginCall(calls, 'last');
    await expect.poll(() => [first, second, alone, last].map(({ events }) => events.length)).toEqual([1, 1, 0, 0]);
    first.resolve('1');
    second.resolve('2');
    await expect.poll(() => [alone, last].map(({ events }) => events.length)).toEqual([1, 0]);
    expect([calls.isRunning('first'), calls.isRunning('alone')]).toEqual([false, true]);
    expect(await Promise.all([calls.callOfQuestion(), calls.callOfQuestion()])).toEqual(['alone', 'alone']);
    alone.resolve('3');
    last.resolve('4');
    expect(await last.result).toBe('4');
  });

  it('lets the next one begin if it was stopped while it waited', async () => {
    const calls = askedCalls();
    const [first, stopped, last] = ['first', 'stopped', 'last'].map((name) =>
      beginCall(calls, name, { isAlone: true }),
    );
    stopped?.stop.abort(new Error('stopped'));
    first?.resolve('1');
    last?.resolve('3');
    expect(await Promise.all([first?.result, stopped?.result, last?.result])).toEqual(['1', 'failed: stopped', '3']);
    expect([stopped?.events, last?.events]).toEqual([[], ['began']]);
  });
});
