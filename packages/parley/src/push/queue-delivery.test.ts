import { expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { PROTOCOL_VERSIONS } from '../codec/protocol-versions.js';
import type { DeliveryClaim, DeliveryOutcome } from '../store/push-storage.js';
import { DEFAULT_DELIVERY_POLICY } from './delivery-policy.js';
import { deliverQueue } from './queue-delivery.js';

const scope = { agent: 'a', tenant: '', owner: 'o' };

function delivery(count: number, answer: (sent: number) => number = () => 204, codec: object = {}) {
  const clock = new ManualClock();
  const settled: DeliveryOutcome[] = [];
  const waiting: ((held: boolean) => void)[] = [];
  const sent: number[] = [];
  const status = { state: 'TASK_STATE_WORKING' as const };
  const records = Array.from({ length: count }, (_, at) => ({
    seq: at + 1,
    turn: 1,
    event: { statusUpdate: { status } },
  }));
  const claim = {
    key: { scope, id: 't' },
    configId: 'c',
    epoch: 1,
    config: { id: 'c', taskId: 't', url: 'http://hooks.test' },
    position: 0,
    last: count,
    attempts: 0,
    records,
  } as unknown as DeliveryClaim;
  const storage = {
    task: async () => ({ seq: count, task: { id: 't', contextId: 'c', status } }),
    push: {
      settle: (_: unknown, outcome: DeliveryOutcome) => {
        settled.push(outcome);
        return new Promise<boolean>((resolve) => waiting.push(resolve));
      },
    },
  };
  const end = deliverQueue(claim, {
    storage: storage as never,
    codec: { ...PROTOCOL_VERSIONS['1.0'].jsonRpc, encodeEvent: () => '{}', ...codec } as never,
    policy: DEFAULT_DELIVERY_POLICY,
    leaseMs: 60_000,
    random: () => 0.5,
    clock,
    isStopping: () => false,
    isCurrent: async () => true,
    send: async ({ seq }) => {
      sent.push(seq);
      return { kind: 'answer', status: answer(seq) };
    },
  });
  const through = () => settled.map((outcome) => (outcome.kind === 'delivered' ? outcome.through : outcome.kind));
  return { clock, sent, waiting, through, end };
}

it('sends on while a settlement is under way, up to eight records; the next one takes them together', async () => {
  const { clock, sent, waiting, through, end } = delivery(20);
  await clock.settle();
  expect([sent.length, through()]).toEqual([9, [1]]);
  waiting.shift()?.(true);
  await clock.settle();
  expect(through()).toEqual([1, 8]);
  for (let turns = 0; turns < 9; turns += 1) {
    waiting.shift()?.(true);
    await clock.settle();
  }
  expect(await end).toMatchObject({ delivered: 20, held: true });
  expect(through().at(-1)).toBe(20);
});

it('ends soon after the queue is lost to another holder', async () => {
  const { clock, sent, waiting, end } = delivery(20);
  await clock.settle();
  waiting.shift()?.(false);
  expect(await end).toMatchObject({ held: false });
  expect(sent.length).toBeLessThanOrEqual(9);
});

it('settles all that was acknowledged before it settles a failure', async () => {
  const { clock, waiting, through, end } = delivery(5, (seq) => (seq === 4 ? 500 : 204));
  for (let turns = 0; turns < 6; turns += 1) {
    await clock.settle();
    waiting.shift()?.(true);
  }
  expect(await end).toMatchObject({ delivered: 3, failure: { attempts: 1 } });
  expect(through()).toEqual([1, 3, 'retry']);
});

it.each([
  ['an event', { encodeEvent: unwritable }],
  ['a task', { notification: { mediaType: 'application/json', encodeTask: unwritable } }],
])('gives up one record if %s cannot be written', async (_, codec) => {
  const { clock, sent, waiting, through, end } = delivery(1, undefined, codec);
  await clock.settle();
  waiting.shift()?.(true);
  expect(await end).toMatchObject({
    delivered: 0,
    refused: 1,
    failure: { outcome: { kind: 'retry', inMs: 0, through: 1 }, attempts: 1, error: expect.any(Error) },
  });
  expect(sent).toEqual([]);
  expect(through()).toEqual(['retry']);
});

function unwritable(): string {
  throw new TypeError('no form in this version');
}
