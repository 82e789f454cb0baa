import { expect, it, onTestFinished } from 'vitest';
import { CountingIds } from '../../test/counting-ids.js';
import { ManualClock } from '../../test/manual-clock.js';
import { PROTOCOL_VERSIONS } from '../codec/protocol-versions.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { silentLogger } from '../telemetry/logger.js';
import { DEFAULT_DELIVERY_POLICY, type DeliveryPolicy } from './delivery-policy.js';
import { DeliverySender } from './delivery-sender.js';

const SCOPE = { agent: 'test', tenant: '', owner: 'alice' };
const SCRAPE_MS = 15_000;
const MINUTE_MS = 60_000;

/** A sender to a webhook that answers nothing. Its figures are read every 15 s, as by Prometheus. */
async function sendingToNothing({ tasks, ...policy }: { readonly tasks: number } & Partial<DeliveryPolicy>) {
  const clock = new ManualClock();
  const storage = new MemoryStorage({ clock });
  for (let at = 0; at < tasks; at += 1) {
    await storage.accept({
      scope: SCOPE,
      message: { messageId: `m${at}`, role: 'ROLE_USER', parts: [{ text: 'hi' }] },
      caller: { extensions: [], version: '1.0' },
      task: { create: { id: `t${at}`, contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
      waitingLimit: 16,
      pushConfig: { id: 'hook', url: 'https://silent.example/hook' },
    });
  }
  const sender = new DeliverySender({
    storage,
    agents: ['test'],
    clock,
    ids: new CountingIds(),
    logger: silentLogger,
    random: () => 0.5,
    send: () => ({ answer: new Promise(() => {}), abort: () => {} }),
    codecOf: () => PROTOCOL_VERSIONS['1.0'].jsonRpc,
    policy: { ...DEFAULT_DELIVERY_POLICY, ...policy },
    leaseMs: 15_000,
    limits: { inFlight: 512, inFlightPerHost: 16 },
  });
  sender.start();
  onTestFinished(async () => {
    await sender.close(0);
    await storage.close();
  });
  const oldestWaitAfter = async (ms: number) => {
    for (let at = 0; at < ms; at += SCRAPE_MS) {
      await clock.advance(SCRAPE_MS);
      sender.figures;
    }
    return sender.figures.oldestWaitMs;
  };
  return { storage, sender, oldestWaitAfter };
}

it('counts a webhook as waiting during an attempt that takes longer than a minute', async () => {
  const { oldestWaitAfter } = await sendingToNothing({ tasks: 1, timeoutMs: 2 * MINUTE_MS });
  expect(await oldestWaitAfter(15 * MINUTE_MS)).toBe(13 * MINUTE_MS);
});

it('counts a webhook as waiting while others of its silent host have their turn', async () => {
  const { sender, oldestWaitAfter } = await sendingToNothing({ tasks: 40 });
  expect(await oldestWaitAfter(20 * MINUTE_MS)).toBe(20 * MINUTE_MS - DEFAULT_DELIVERY_POLICY.timeoutMs);
  expect(sender.figures).toMatchObject({ delivered: 0, parked: 0 });
});

it('does not count a webhook that was deleted while it waited for its next attempt', async () => {
  const { storage, sender, oldestWaitAfter } = await sendingToNothing({ tasks: 1, firstDelayMs: MINUTE_MS });
  expect(await oldestWaitAfter(30_000)).toBe(30_000 - DEFAULT_DELIVERY_POLICY.timeoutMs);
  expect(sender.figures).toMatchObject({ failed: 1, inFlight: 0 });
  await storage.push.deleteConfig(SCOPE, 't0', 'hook');
  expect(await oldestWaitAfter(3 * MINUTE_MS)).toBe(0);
});
