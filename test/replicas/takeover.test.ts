import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import { textOf } from '../../packages/parley/test/engine.js';
import { Receiver, seqOf } from '../push/receiver.js';
import { onSteadyMachine } from '../support/standstill.js';
import { BACKENDS, Cluster } from './backends.js';
import { Balancer } from './balancer.js';
import { EventFeed } from './event-feed.js';
import type { Replica } from './replica.js';

const LEASE_MS = 3_000;
/** The backends run beside each other. On each of them, one test runs after the other. */
const LONG = { timeout: 180_000, concurrent: false };
const PATIENCE = { timeout: 20_000, interval: 20 };

// Most of the time is waiting for leases.
describe.concurrent.each(Object.keys(BACKENDS))('a replica on %s', (backend) => {
  const cluster = new Cluster(backend);
  const renew = () => cluster.renew();
  afterEach(() => cluster.clear());
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('that is killed: others take its turns over within two leases', LONG, async () => {
    const tookMs = await measureFastest(async () => {
      const agents = ['/', '/once'];
      const [one, two] = (await cluster.boots(2, { agents })) as [Replica, Replica];
      const { id } = await one.send('held 40 50', {}, { returnImmediately: true });
      const once = await one.send('held 40 50', {}, { agent: '/once', returnImmediately: true });
      const feed = await EventFeed.ofTask(two, id);
      await feed.has((events) => events.some((event) => event.artifactUpdate !== undefined));
      one.signal('SIGKILL');
      const killedAt = performance.now();
      await vi.waitFor(() => expect(two.lines).toContain('ran held 40 50 attempt 2'), PATIENCE);
      const ms = performance.now() - killedAt;
      const failed = await two.until(once.id, 'FAILED', { agent: '/once' });
      expect(textOf(failed.status.message?.parts)).toBe(
        'The agent stopped while it worked on this task and cannot resume it.',
      );
      await two.until(id, 'COMPLETED');
      await feed.waitForEnd();
      expectGapless(feed);
      await cluster.clear();
      return ms;
    });
    process.stdout.write(`takeover on ${backend}: ${tookMs.toFixed(0)} ms\n`);
    expect(tookMs).toBeLessThan(2 * LEASE_MS);
  });

  it('that is killed during a request to a webhook: others go on within two leases', LONG, async () => {
    const tookMs = await measureFastest(async () => {
      await using receiver = await Receiver.open((response, _, count) => {
        if (count > 1) response.writeHead(204).end();
      });
      const one = await cluster.boot();
      const { id } = await one.send('echo x', {}, { taskPushNotificationConfig: { url: receiver.url } });
      await receiver.has((all) => all.length === 1);
      const two = await cluster.boot();
      one.signal('SIGKILL');
      const killedAt = performance.now();
      await receiver.has((all) => all.length > 1);
      const ms = performance.now() - killedAt;
      await receiver.has((all) => all.some(({ text }) => text.includes('COMPLETED')));
      expect((await two.task(id)).status.state).toBe('TASK_STATE_COMPLETED');
      await cluster.clear();
      return ms;
    });
    expect(tookMs).toBeLessThan(2 * LEASE_MS);
  });

  it('whose webhook takes longer than a lease keeps the delivery', LONG, () =>
    onSteadyMachine(async () => {
      const slow = Promise.withResolvers<void>();
      await using receiver = await Receiver.open(async (response, _, count) => {
        if (count === 1) await slow.promise;
        response.writeHead(204).end();
      });
      const [one, two] = (await cluster.boots(2)) as [Replica, Replica];
      await one.send('echo x', {}, { taskPushNotificationConfig: { url: receiver.url } });
      await receiver.has((all) => all.length === 1);
      // Only time shows that no other replica takes the delivery over.
      await new Promise((resolve) => setTimeout(resolve, 1.5 * LEASE_MS));
      expect(receiver.received).toHaveLength(1);
      slow.resolve();
      await receiver.has((all) => all.some(({ text }) => text.includes('COMPLETED')));
      expect(receiver.received.map(seqOf)).toEqual([1, 2, 3]);
      expect(two.isRunning).toBe(true);
    }, renew),
  );

  it('that is frozen past its lease writes nothing when it goes on', LONG, () =>
    onSteadyMachine(async () => {
      const [one, two] = (await cluster.boots(2)) as [Replica, Replica];
      const { id } = await one.send('held 100 50', {}, { returnImmediately: true });
      const feed = await EventFeed.ofTask(two, id);
      await feed.has((events) => events.some((event) => event.artifactUpdate !== undefined));
      one.signal('SIGSTOP');
      await vi.waitFor(() => expect(two.lines).toContain('ran held 100 50 attempt 2'), PATIENCE);
      one.signal('SIGCONT');
      await two.until(id, 'COMPLETED');
      await feed.waitForEnd();
      expectGapless(feed);
      expect(one.runs('held 100 50')).toBe(1);
      expect((await one.task(id)).status.state).toBe('TASK_STATE_COMPLETED');
    }, renew),
  );

  it('whose agent kills it: that agent is stopped after three attempts, and the others end', LONG, () =>
    onSteadyMachine(async () => {
      const replicas = await cluster.boots(4);
      const [one, two, three, four] = replicas as [Replica, Replica, Replica, Replica];
      const innocents = await Promise.all(
        Array.from({ length: 3 }, () => one.send('steps 20 50', {}, { returnImmediately: true })),
      );
      const { id } = await one.send('die', {}, { returnImmediately: true });
      const runningReplicas = () => [one, two, three, four].filter(({ isRunning }) => isRunning);
      await vi.waitFor(() => expect(runningReplicas()).toHaveLength(1), { timeout: 60_000, interval: 50 });
      const [left] = runningReplicas() as [Replica];
      const failed = await left.until(id, 'FAILED');
      expect(textOf(failed.status.message?.parts)).toBe('The agent stopped each time it worked on this task.');
      for (const task of innocents) await left.until(task.id, 'COMPLETED');
      expect(replicas.reduce((sum, replica) => sum + replica.runs('die'), 0)).toBe(3);
      expect(left.isRunning).toBe(true);
    }, renew),
  );

  it('that is drained: streams and waiting senders of our client go on elsewhere without an error', LONG, async () => {
    const replicas = (await cluster.boots(2)) as [Replica, Replica];
    await using balancer = await Balancer.open(replicas);
    const card = (await (await fetch(`${balancer.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    const { supportedInterfaces, ...others } = card;
    const through = supportedInterfaces.map((one) => ({
      ...one,
      url: one.url.replace(/^http:\/\/[^/]+/, balancer.url),
    }));
    const client = await connect({ ...others, supportedInterfaces: through });
    const events: StreamResponse[] = [];
    const reading = (async () => {
      for await (const event of client.sendStreamingMessage('steps 60 50 streamed')) events.push(event);
    })();
    const answers = Array.from({ length: 3 }, () => client.sendMessage('steps 60 50 waited for'));
    await vi.waitFor(() => {
      const runs = replicas.flatMap(({ lines }) => lines).filter((line) => line.startsWith('ran steps 60 50'));
      expect(runs).toHaveLength(4);
    }, PATIENCE);
    // Each replica in turn: whichever it is, streams and senders are on it.
    for (const [at, replica] of replicas.entries()) {
      replica.signal('SIGTERM');
      await replica.waitForExit();
      if (at === 0) balancer.targets = [await cluster.boot(), replicas[1]];
    }
    await reading;
    for (const answer of await Promise.all(answers)) {
      expect(answer.task?.status.state).toBe('TASK_STATE_COMPLETED');
    }
    const last = events.at(-1);
    expect(last?.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

/** The shortest time of a few attempts: other work of the machine can only lengthen a takeover. */
async function measureFastest(measure: () => Promise<number>): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && fastest >= 2 * LEASE_MS; attempt += 1) {
    fastest = Math.min(fastest, await measure());
  }
  return fastest;
}

/** A stream shows each record of its task once, in order. */
function expectGapless({ ids, error }: EventFeed): void {
  const [first = 0] = ids;
  expect(ids).toEqual(ids.map((_, at) => first + at));
  expect(error).toBeUndefined();
}
