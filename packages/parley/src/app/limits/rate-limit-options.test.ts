import { describe, expect, it } from 'vitest';
import { isOption } from '../../options/check-options.js';
import { parseRate, rateLimitSchema, ratesOf } from './rate-limit-options.js';

const RATE = { requests: 10, windowMs: 1_000 };

describe('the rates of a host', () => {
  it('are read from a text', () => {
    expect(parseRate('100/60s')).toEqual({ requests: 100, windowMs: 60_000 });
    expect(parseRate(' 10/s ')).toEqual({ requests: 10, windowMs: 1_000 });
    expect(parseRate('600/10m')).toEqual({ requests: 600, windowMs: 600_000 });
    expect(parseRate('5/250ms')).toEqual({ requests: 5, windowMs: 250 });
  });

  it.each(['', '100', '100/', '/60s', '0/60s', '100/0s', '-1/60s', '1.5/60s', '100/60', '100/60d', '100/25h', '1e3/s'])(
    'are not "%s"',
    (text) => {
      expect(parseRate(text)).toBeUndefined();
    },
  );

  it('hold per address and per principal, unless one of them has its own', () => {
    expect(ratesOf(RATE)).toEqual({ perAddress: RATE, perPrincipal: RATE });
    expect(ratesOf({ ...RATE, perAddress: false })).toEqual({ perAddress: undefined, perPrincipal: RATE });
    const own = { requests: 1, windowMs: 1 };
    expect(ratesOf({ ...RATE, perPrincipal: own })).toEqual({ perAddress: RATE, perPrincipal: own });
    expect(ratesOf({ perAddress: own })).toEqual({ perAddress: own, perPrincipal: undefined });
  });

  it('are refused if a part is missing or wrong', () => {
    expect(isOption(rateLimitSchema, RATE)).toBe(true);
    expect(isOption(rateLimitSchema, { perAddress: RATE })).toBe(true);
    for (const wrong of [
      {},
      { requests: 10 },
      { windowMs: 10 },
      { ...RATE, requests: 0 },
      { ...RATE, requests: 1.5 },
      { ...RATE, windowMs: 0 },
      { perAddress: true },
      { perAddress: { requests: 1 } },
      { perAddress: { ...RATE, burst: 1 } },
      { ...RATE, keys: 1 },
      { ...RATE, limiter: {} },
      { ...RATE, per: 'address' },
    ]) {
      expect(isOption(rateLimitSchema, wrong), JSON.stringify(wrong)).toBe(false);
    }
  });
});
