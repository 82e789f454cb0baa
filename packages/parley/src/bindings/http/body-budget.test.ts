import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import { BodyBudget } from './body-budget.js';
import type { ExchangeRequest } from './exchange.js';

const KIB = 1_024;

function requestOf(contentLength?: number): ExchangeRequest {
  return {
    method: 'POST',
    path: '/',
    query: '',
    signal: new AbortController().signal,
    header: (name) => (name === 'content-length' ? contentLength?.toString() : undefined),
    body: () => Promise.resolve(new Uint8Array(0)),
  };
}

function world(maxBytes: number) {
  const clock = new ManualClock();
  const budget = new BodyBudget({ maxBytes, clock });
  const arrive = (request: ExchangeRequest, total: number) => budget.meter(request)?.(total);
  return { clock, budget, arrive };
}

describe('the memory of bodies', () => {
  it('never counts small ones, however they are announced', () => {
    const { arrive, budget } = world(1);
    const [announced, chunked] = [requestOf(64 * KIB), requestOf()];
    expect(budget.meter(announced)).toBeUndefined();
    expect(arrive(chunked, 64 * KIB)).toBeUndefined();
    expect([budget.releaseOf(announced), budget.releaseOf(chunked)]).toEqual([undefined, undefined]);
  });

  it('pauses what does not fit, and goes on in the order of the requests', async () => {
    const { arrive, budget } = world(300 * KIB);
    const [first, second, third] = [requestOf(), requestOf(), requestOf()];
    expect(arrive(first, 200 * KIB)).toBeUndefined();
    expect(arrive(second, 80 * KIB)).toBeUndefined();
    const order: string[] = [];
    const waits = [
      arrive(second, 160 * KIB)?.then(() => order.push('second')),
      arrive(third, 70 * KIB)?.then(() => order.push('third')),
    ];
    expect(order).toEqual([]);
    budget.release(first);
    await Promise.all(waits);
    expect(order).toEqual(['second', 'third']);
    expect([first, second, third].map((request) => budget.releaseOf(request) !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('lets the oldest request go on, whatever it takes', () => {
    const { arrive } = world(100 * KIB);
    const oldest = requestOf();
    expect(arrive(oldest, 90 * KIB)).toBeUndefined();
    expect(arrive(requestOf(), 90 * KIB)).toBeInstanceOf(Promise);
    expect(arrive(oldest, 900 * KIB)).toBeUndefined();
  });

  it('refuses what has waited for ten seconds, and says when to come again', async () => {
    const { arrive, budget, clock } = world(100 * KIB);
    arrive(requestOf(), 100 * KIB);
    const late = requestOf();
    const wait = arrive(late, 100 * KIB);
    const refusal = expect(wait).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      details: { retryAfterMs: 1_000 },
    });
    await clock.advance(10_000);
    await refusal;
    budget.release(late);
    expect(budget.releaseOf(late)).toBeUndefined();
  });
});
