import { expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { PROTOCOL_VERSIONS } from '../codec/protocol-versions.js';
import type { DeliveryClaim, DeliveryOutcome } from '../store/push-storage.js';
import { DEFAULT_DELIVERY_POLICY } from './delivery-policy.js';
import { deliverQueue } from './queue-delivery.js';
import { SettlementGroup } from './settlements.js';

const scope = { agent: 'a', tenant: '', owner: 'o' };

interface DeliveryWorld {
  readonly answer?: (sent: number) => number | Promise<number>;
  readonly codec?: object;
  readonly clock?: ManualClock;
  readonly group?: SettlementGroup;
}

function delivery(count: number, world: DeliveryWorld = {}) {
  const { answer = () => 204, codec, clock = new ManualClock(), group = new SettlementGroup(clock) } = world;
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
    group,
    isStopping: () => false,
    isCurrent: async () => true,
    send: async ({ seq }) => {
      sent.push(seq);
      return { kind: 'answer', status: await answer(seq) };
    },
  });
  const through = () => settled.map((outcome) => (outcome.kind === 'delivered' ? outcome.through : outcome.kind));
  return { clock, group, sent, waiting, through, end };
}

/** Answers no request from this record on. */
const silentFrom = (first: number) => (seq: number) => (seq < first ? 204 : new Promise<number>(() => {}));

it('settles eight records together, and sends on meanwhile, up to sixteen', async () => {
  const { clock, sent, waiting, through, end } = delivery(40);
  await clock.settle();
  expect([sent.length, through()]).toEqual([17, [8]]);
  waiting.shift()?.(true);
  await clock.settle();
  expect(through()).toEqual([8, 16]);
  for (let turns = 0; turns < 5; turns += 1) {
    waiting.shift()?.(true);
    await clock.settle();
  }
  expect(await end).toMatchObject({ delivered: 40, held: true });
  expect(through().at(-1)).toBe(40);
});

it('settles fewer records after 100 ms, while the receiver does not answer the next one', async () => {
  const { clock, through } = delivery(3, { answer: silentFrom(3) });
  await clock.settle();
  expect(through()).toEqual([]);
  await clock.advance(100);
  expect(through()).toEqual([2]);
});

it('settles with another queue of the same sender', async () => {
  const slow = delivery(3, { answer: silentFrom(3) });
  const { clock, group } = slow;
  await clock.settle();
  const quick = delivery(1, { clock, group });
  await clock.settle();
  expect([slow.through(), quick.through()]).toEqual([[2], [1]]);
});

it('settles nothing more after the queue is lost to another holder', async () => {
  const { clock, sent, waiting, through, end } = delivery(40);
  await clock.settle();
  waiting.shift()?.(false);
  expect(await end).toMatchObject({ held: false });
  await clock.advance(1_000);
  expect([sent.length, through()]).toEqual([17, [8]]);
});

it('settles all that was acknowledged before it settles a failure', async () => {
  const { clock, waiting, through, end } = delivery(5, { answer: (seq) => (seq === 4 ? 500 : 204) });
  for (let turns = 0; turns < 6; turns += 1) {
    await clock.settle();
    waiting.shift()?.(true);
  }
  expect(await end).toMatchObject({ delivered: 3, failure: { attempts: 1 } });
  expect(through()).toEqual([3, 'retry']);
});

it.each([
  ['an event', { encodeEvent: unwritable }],
  ['a task', { notification: { mediaType: 'application/json', encodeTask: unwritable } }],
])('gives up one record if %s cannot be written', async (_, codec) => {
  const { clock, sent, waiting, through, end } = delivery(1, { codec });
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
