import { describe, expect, it } from 'vitest';
import { ManualClock, settlePromises } from '../../../test/manual-clock.js';
import { TokenKeeper } from './token-keeper.js';
import type { TokenStore, Tokens } from './tokens.js';

interface Request {
  readonly previous: Tokens | undefined;
  readonly signal: AbortSignal;
  answer(tokens: Tokens): void;
  fail(error: Error): void;
}

function keeperWorld(store?: TokenStore) {
  const clock = new ManualClock();
  const requests: Request[] = [];
  const keeper = new TokenKeeper({
    clock,
    store,
    key: 'the key',
    obtain: (previous, signal) =>
      new Promise((answer, fail) => {
        requests.push({ previous, signal, answer, fail });
        signal.addEventListener('abort', () => fail(signal.reason));
      }),
  });
  return { clock, requests, keeper, given: (at: number) => requests[at] as Request };
}

/** Until a time of the clock's day. */
const tokens = (accessToken: string, clock: ManualClock, ms = 60_000): Tokens => ({
  accessToken,
  renewAt: clock.now() + ms,
});

describe('tokens that are kept', () => {
  it('are asked for once, however many wait, and again shortly before they expire', async () => {
    const { clock, requests, keeper, given } = keeperWorld();
    const waiting = Promise.all(Array.from({ length: 50 }, () => keeper.current(undefined)));
    await settlePromises();
    given(0).answer(tokens('t1', clock));
    expect(new Set(await waiting)).toEqual(new Set(['t1']));
    await clock.advance(59_999);
    expect(await keeper.current(undefined)).toBe('t1');
    await clock.advance(1);
    const next = keeper.current(undefined);
    await settlePromises();
    given(1).answer({ accessToken: 't2' });
    expect(await next).toBe('t2');
    await clock.advance(1e9);
    expect(await keeper.current(undefined)).toBe('t2');
    expect(requests).toHaveLength(2);
    expect(given(1).previous?.accessToken).toBe('t1');
  });

  it('that were refused are renewed once, also for those who hear of it late', async () => {
    const { clock, requests, keeper, given } = keeperWorld();
    const first = keeper.current(undefined);
    await settlePromises();
    given(0).answer(tokens('t1', clock));
    await first;
    const refused = Promise.all(Array.from({ length: 50 }, () => keeper.renew('t1', undefined)));
    const newcomer = keeper.current(undefined);
    await settlePromises();
    given(1).answer(tokens('t2', clock));
    expect(new Set(await refused)).toEqual(new Set([true]));
    expect(await newcomer).toBe('t2');
    expect(await keeper.renew('t1', undefined)).toBe(true);
    expect(requests).toHaveLength(2);
  });

  it('that replaced refused ones and are refused too are not renewed for a second', async () => {
    const { clock, requests, keeper, given } = keeperWorld();
    const first = keeper.renew('of another life', undefined);
    expect(await Promise.race([first, settlePromises().then(() => 'no token yet')])).toBe(true);
    const had = keeper.current(undefined);
    await settlePromises();
    given(0).answer(tokens('t1', clock));
    await had;
    const renewed = keeper.renew('t1', undefined);
    await settlePromises();
    given(1).answer(tokens('t2', clock));
    expect(await renewed).toBe(true);
    await clock.advance(999);
    expect(await keeper.renew('t2', undefined)).toBe(false);
    await clock.advance(1);
    const later = keeper.renew('t2', undefined);
    await settlePromises();
    given(2).answer(tokens('t2', clock));
    expect(await later).toBe(false);
    expect(requests).toHaveLength(3);
  });

  it('are asked for as long as anybody waits, and no longer', async () => {
    const { requests, keeper, given } = keeperWorld();
    const [one, two] = [new AbortController(), new AbortController()];
    const waiting = [keeper.current(one.signal), keeper.current(two.signal)];
    await settlePromises();
    one.abort(new Error('one leaves'));
    await expect(waiting[0]).rejects.toThrow('one leaves');
    expect(given(0).signal.aborted).toBe(false);
    two.abort(new Error('two leaves'));
    await expect(waiting[1]).rejects.toThrow('two leaves');
    expect(given(0).signal.aborted).toBe(true);
    const next = keeper.current(undefined);
    await settlePromises();
    given(1).answer({ accessToken: 't1' });
    expect(await next).toBe('t1');
    await expect(keeper.current(one.signal)).resolves.toBe('t1');
    expect(requests).toHaveLength(2);
  });

  it('are asked for again after a failure, which all who waited are told', async () => {
    const { clock, keeper, given } = keeperWorld();
    const waiting = Promise.allSettled([keeper.current(undefined), keeper.current(undefined)]);
    await settlePromises();
    const failure = { status: 'rejected', reason: new Error('no') };
    given(0).fail(failure.reason);
    expect(await waiting).toEqual([failure, failure]);
    const next = keeper.current(undefined);
    await settlePromises();
    given(1).answer(tokens('t1', clock));
    expect(await next).toBe('t1');
    await clock.advance(60_000);
    const later = keeper.current(undefined);
    await settlePromises();
    given(2).fail(new Error('down, and no time is known until which the old ones serve'));
    await expect(later).rejects.toThrow('down, and');
  });

  it.each<[string, object]>([
    ['expiresAt', { accessToken: 't1', renewAt: 0, expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { accessToken: 't1', renewAt: 0, expiresAt: null }],
    ['renewAt', { accessToken: 't1', renewAt: '2020-01-01T00:00:00Z' }],
    ['accessToken', { accessToken: 5 }],
    ['refreshToken', { accessToken: 't1', refreshToken: 5 }],
  ])('from a store with a wrong %s are refused, and the error names it: %j', async (member, stored) => {
    const { requests, keeper } = keeperWorld({ load: async () => stored as Tokens, save: async () => {} });
    await expect(keeper.current(undefined)).rejects.toThrow(`load() of the token store gave a wrong ${member}`);
    expect(requests).toHaveLength(0);
  });

  it('that cannot be renewed do until they expire, and are asked for again meanwhile', async () => {
    const { clock, requests, keeper, given } = keeperWorld();
    const first = keeper.current(undefined);
    await settlePromises();
    given(0).answer({ accessToken: 't1', renewAt: clock.now() + 1_000, expiresAt: clock.now() + 4_000 });
    await first;
    await clock.advance(1_000);
    const second = keeper.current(undefined);
    await settlePromises();
    given(1).fail(new Error('down'));
    expect(await second).toBe('t1');
    await clock.advance(999);
    expect(await keeper.current(undefined)).toBe('t1');
    expect(requests).toHaveLength(2);
    await clock.advance(2_001);
    const late = keeper.current(undefined);
    await settlePromises();
    given(2).fail(new Error('still down'));
    await expect(late).rejects.toThrow('still down');
    const refused = keeper.renew('t1', undefined);
    await settlePromises();
    given(3).fail(new Error('refused, so no longer good'));
    await expect(refused).rejects.toThrow('refused, so');
  });

  it('that another process has renewed are taken from the store', async () => {
    const { clock } = keeperWorld();
    let stored: Tokens | undefined = { ...tokens('t0', clock, -1), refreshToken: 'r0' };
    const saved: Tokens[] = [];
    const { keeper, requests, given } = keeperWorld({
      load: async () => stored,
      save: async (_, next) => void saved.push(next),
    });
    const first = keeper.current(undefined);
    await settlePromises();
    expect(given(0).previous).toBe(stored);
    given(0).answer({ accessToken: 't1' });
    expect(await first).toBe('t1');
    stored = { accessToken: 't2' };
    expect(await keeper.renew('t1', undefined)).toBe(true);
    expect(await keeper.current(undefined)).toBe('t2');
    expect(requests).toHaveLength(1);
    expect(saved).toEqual([{ accessToken: 't1' }]);
  });
});
