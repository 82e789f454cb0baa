import { afterEach, expect, it, vi } from 'vitest';
import { Inbox } from './inbox.js';

const WAIT_MS = 20_000;
const accepting = { answer: async () => ({ status: 204, headers: {}, body: '' }) };
const openInbox = () => new Inbox({ url: 'http://127.0.0.1/x', keysUrl: undefined, receiver: async () => accepting });

afterEach(() => {
  vi.useRealTimers();
});

it('waits for the next delivery however often a wait has ended without one', async () => {
  vi.useFakeTimers();
  const inbox = openInbox();
  for (let at = 0; at < 20; at++) {
    const wait = inbox.changed(0);
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    await wait;
  }
  const ended = vi.fn();
  void inbox.changed(0).then(ended);
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
  expect(ended).not.toHaveBeenCalled();
  const body = (async function* () {})();
  await inbox.take({ method: 'POST', header: () => undefined, body });
  await vi.advanceTimersByTimeAsync(0);
  expect([ended.mock.calls.length, inbox.count]).toEqual([1, 1]);
});

it('a new wait ends the oldest of too many', async () => {
  vi.useFakeTimers();
  const inbox = openInbox();
  const ended: number[] = [];
  for (let at = 0; at < 9; at++) void inbox.changed(0).then(() => ended.push(at));
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toEqual([0]);
  inbox.close();
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toHaveLength(9);
});
