import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptResult, afterFailure, DEFAULT_DELIVERY_POLICY, isAcknowledged } from './delivery-policy.js';

const NOW = Date.UTC(2026, 0, 1);
const answer = (status: number, retryAfter?: string): AttemptResult => ({ kind: 'answer', status, retryAfter });
const after = (result: AttemptResult, failed = 0, { random = 0.5, isFinal = true } = {}) =>
  afterFailure(result, DEFAULT_DELIVERY_POLICY, { failed, seq: 7, isFinal, random, now: NOW });

describe('a failed attempt', () => {
  it.each([200, 201, 202, 204, 299])('is none with status %i (Spec §4.3.3)', (status) => {
    expect(isAcknowledged(answer(status))).toBe(true);
  });

  it('is followed by the next one after a delay that doubles up to a limit (Spec §13.2)', () => {
    const delays = Array.from({ length: 9 }, (_, failed) => after(answer(503), failed));
    expect(delays.map((outcome) => 'inMs' in outcome && outcome.inMs / 1_000)).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 256,
    ]);
    expect(after(answer(503), 9)).toMatchObject({ kind: 'park', status: 503, reason: 'HTTP status 503, 10 attempts' });
  });

  it.each([
    ['a stalled receiver', { kind: 'failure', reason: 'timeout' } as const, 10],
    ['no connection', { kind: 'failure', reason: 'connection' } as const, 10],
    ['an address that is not allowed', { kind: 'failure', reason: 'forbidden' } as const, 3],
    ['an event that cannot be written', { kind: 'failure', reason: 'unencodable' } as const, 1],
    ['410', answer(410), 1],
    ['404', answer(404), 3],
    ['401', answer(401), 3],
    ['307', answer(307), 3],
    ['101', answer(101), 3],
    ['408', answer(408), 10],
    ['425', answer(425), 10],
    ['429', answer(429), 10],
    ['500', answer(500), 10],
    ['599', answer(599), 10],
  ])('because of %s is one of so many', (_, result, most) => {
    expect(after(result, most - 1).kind).toBe('park');
    if (most > 1) expect(after(result, most - 2).kind).toBe('retry');
  });

  it.each([
    ['an event that cannot be written', { kind: 'failure', reason: 'unencodable' } as const, 1],
    ['404', answer(404), 3],
    ['307', answer(307), 3],
  ])('because of %s gives up the record alone, so that the final state goes out', (_, result, most) => {
    if (most > 1) expect(after(result, most - 2, { isFinal: false })).not.toHaveProperty('through');
    expect(after(result, most - 1, { isFinal: false })).toMatchObject({ kind: 'retry', inMs: 0, through: 7 });
  });

  it('of a final state has attempts of its own after records that were given up', () => {
    const kinds = (first: number) => Array.from({ length: 8 }, (_, at) => after(answer(404), first + at).kind);
    expect(kinds(3).indexOf('park')).toBe(6);
    expect(kinds(10).indexOf('park')).toBe(2);
    expect(after(answer(503), 10)).toMatchObject({ kind: 'retry', inMs: 300_000 });
  });

  it.each([
    ['7', 7_000],
    [' 7 ', 7_000],
    ['0', 1_000],
    ['999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 1_000],
    ['-5', 1_000],
    ['soon', 1_000],
    ['1e9', 1_000],
    ['', 1_000],
  ])('waits as long as Retry-After %j asks, within limits (RFC 9110 §10.2.3)', (header, inMs) => {
    expect(after(answer(429, header))).toEqual({ kind: 'retry', inMs, status: 429 });
  });

  it('always ends in a park, after delays within the limits, whatever the receiver does', () => {
    const results = fc.oneof(
      fc.record({
        kind: fc.constant('answer' as const),
        status: fc.integer({ min: 100, max: 599 }).filter((status) => status < 200 || status > 299),
        retryAfter: fc.option(fc.string(), { nil: undefined }),
      }),
      fc.record({
        kind: fc.constant('failure' as const),
        reason: fc.constantFrom('timeout' as const, 'connection' as const, 'forbidden' as const),
      }),
    );
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(results, { minLength: 10, maxLength: 10 }), random, (all, number) => {
        const outcomes = all.map((result, failed) => after(result, failed, { random: number }));
        expect(outcomes.some(({ kind }) => kind === 'park')).toBe(true);
        for (const outcome of outcomes) {
          if (outcome.kind === 'park') expect(outcome.reason).toMatch(/./);
          else expect(outcome.inMs >= 1_000 && outcome.inMs <= 3_600_000).toBe(true);
        }
      }),
    );
  });
});
