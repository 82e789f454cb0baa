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

it.each([
  [204, 'verified'],
  [500, 'verified'],
  [401, 'invalid'],
  [413, 'unchecked'],
  [415, 'unchecked'],
  [503, 'unchecked'],
])('calls a signature whose webhook answers %i %s', async (status, signature) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ kid: 'k' })}.${part({ iss: 'https://agent.example' })}.forged`;
  const receiver = async ({ signature: checks }: { readonly signature?: object }) => ({
    answer: async () => ({ status: checks === undefined ? 204 : status, headers: {}, body: '' }),
  });
  const inbox = new Inbox({ url: 'http://127.0.0.1/x', keysUrl: 'http://127.0.0.1/keys', receiver });
  const header = (name: string) => (name === 'x-a2a-notification-signature' ? signed : undefined);
  await inbox.take({ method: 'POST', header, body: (async function* () {})() });
  expect(inbox.deliveries[0]?.signature).toBe(signature);
});
