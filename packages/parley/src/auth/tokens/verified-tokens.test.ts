import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import { VerifiedTokens, type VerifiedTokensLimits } from './verified-tokens.js';

function cache(limits: VerifiedTokensLimits = {}) {
  const clock = new ManualClock();
  const tokens = new VerifiedTokens({ clock, ...limits });
  const add = (hash: string, id = hash, expiresAt?: number) =>
    tokens.add(hash, { kind: 'user', user: { id, ...(expiresAt !== undefined && { expiresAt }) } }, tokens.generation);
  const knows = (hash: string) => tokens.get(hash) !== undefined;
  return { clock, tokens, add, knows };
}

it('knows a token for a minute, however often it is used', async () => {
  const { clock, add, knows } = cache({ maxAgeMs: 3_600_000 });
  add('a');
  await clock.advance(59_999);
  expect(knows('a')).toBe(true);
  await clock.advance(1);
  expect(knows('a')).toBe(false);
});

it('knows a token until it expires', async () => {
  const { clock, add, knows } = cache();
  add('a', 'ada', clock.now() + 10_000);
  await clock.advance(9_999);
  expect(knows('a')).toBe(true);
  await clock.advance(1);
  expect(knows('a')).toBe(false);
});

it('never has more than its tokens, and keeps those that are used', () => {
  const { tokens, add, knows } = cache({ maxTokens: 10 });
  add('used');
  for (let at = 0; at < 1_000; at++) {
    add(`token ${at}`);
    expect(knows('used')).toBe(true);
    expect(tokens.size).toBeLessThanOrEqual(10);
  }
  expect(knows('token 999')).toBe(true);
  expect(knows('token 900')).toBe(false);
});

it.each([{ maxTokens: 0 }, { maxAgeMs: 0 }])('knows nothing with %j', (limits) => {
  const { add, knows } = cache(limits);
  add('a');
  expect(knows('a')).toBe(false);
});

it('forgets a user or all, also the checks that began before', () => {
  const { tokens, add, knows } = cache({ maxTokens: 4 });
  add('a1', 'ada');
  add('b1', 'bob');
  add('a2', 'ada');
  const { generation } = tokens;
  tokens.clear('ada');
  expect([knows('a1'), knows('a2'), knows('b1')]).toEqual([false, false, true]);
  tokens.add('a3', { kind: 'user', user: { id: 'ada' } }, generation);
  expect(knows('a3')).toBe(false);
  tokens.clear();
  expect([knows('b1'), tokens.size]).toEqual([false, 0]);
});
