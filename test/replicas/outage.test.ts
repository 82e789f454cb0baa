import { describe, expect, it, vi } from 'vitest';
import { BACKENDS, Cluster } from './backends.js';
import { EventFeed } from './event-feed.js';
import type { Replica } from './replica.js';

const LONG = { timeout: 90_000 };
const PATIENCE = { timeout: 30_000, interval: 30 };

describe.each(Object.keys(BACKENDS))('while %s is away', (backend) => {
  it.each(['killed', 'frozen'] as const)(
    'requests are refused quickly, streams stay open, and all goes on after it: %s',
    LONG,
    async (how) => {
      await using cluster = new Cluster(backend);
      const server = await cluster.server;
      const [one, two] = (await cluster.boots(2)) as [Replica, Replica];
      const { id } = await one.send('steps 150 50', {}, { returnImmediately: true });
      const feeds = [await EventFeed.ofTask(one, id), await EventFeed.ofTask(two, id)];
      for (const feed of feeds) await feed.has((events) => events.some((event) => event.artifactUpdate !== undefined));
      // This message waits for the turn of the other replica.
      const waiting = measureAnswer(two.sendRaw('echo later', { taskId: id }));
      await vi.waitFor(async () => expect((await two.call('/readyz')).status).toBe(200), PATIENCE);

      if (how === 'killed') await server.kill();
      else server.freeze();
      const awayAt = performance.now();
      // The first requests may meet a connection that is not known to be dead.
      await Promise.all([one, two].map((replica) => measureAnswer(replica.sendRaw('echo first')))).then((answers) => {
        for (const { status, ms } of answers) {
          expect(status).toBe(503);
          expect(ms).toBeLessThan(12_000);
        }
      });
      for (const replica of [one, two]) {
        // A frozen server is detected after the time limit of a call.
        await vi.waitFor(
          async () => expect((await measureAnswer(replica.call('/a2a/rest/tasks'))).ms).toBeLessThan(1_000),
          PATIENCE,
        );
        const calls = [
          () => replica.sendRaw('echo x'),
          () => replica.call(`/a2a/rest/tasks/${id}`),
          () => replica.call('/a2a/rest/tasks'),
          () => replica.call(`/a2a/rest/tasks/${id}:cancel`, {}),
        ];
        // A busy machine may stand still for a moment, so the second fastest of three rounds counts.
        const rounds: number[][] = [];
        while (rounds.length < 3) {
          const answers = await Promise.all(calls.map((call) => measureAnswer(call())));
          for (const { status, retryAfter } of answers) {
            expect(status).toBe(503);
            expect(Number(retryAfter)).toBeGreaterThan(0);
          }
          rounds.push(answers.map(({ ms }) => ms));
        }
        for (const at of calls.keys()) {
          const [, median] = rounds.map((round) => round[at] ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
          expect(median).toBeLessThan(1_000);
        }
        await vi.waitFor(async () => {
          const ready = await replica.call('/readyz');
          expect(ready.status).toBe(503);
          expect(await ready.json()).toMatchObject({
            notReady: ['storage'],
            checks: { storage: { reason: expect.stringMatching(/./) } },
          });
        }, PATIENCE);
      }
      const answered = await waiting;
      expect(answered.status).toBe(503);
      process.stdout.write(`waiting sender on ${backend}, ${how}: ${(performance.now() - awayAt).toFixed(0)} ms\n`);
      expect(performance.now() - awayAt).toBeLessThan(20_000);
      const comments = feeds.map((feed) => feed.comments);
      await vi.waitFor(() => {
        for (const [at, feed] of feeds.entries()) expect(feed.comments).toBeGreaterThan((comments[at] ?? 0) + 1);
      }, PATIENCE);
      expect(feeds.map((feed) => feed.isOver)).toEqual([false, false]);

      if (how === 'killed') await server.startAgain();
      else server.thaw();
      for (const replica of [one, two]) {
        await vi.waitFor(async () => expect((await replica.call('/readyz')).status).toBe(200), PATIENCE);
        expect((await replica.send('echo again')).status.state).toBe('TASK_STATE_COMPLETED');
      }
      await one.until(id, 'COMPLETED', { timeoutMs: 40_000 });
      for (const feed of feeds) await feed.waitForEnd();
      for (const { ids, error } of feeds) {
        const [first = 0] = ids;
        expect(ids).toEqual(ids.map((_, at) => first + at));
        expect(error).toBeUndefined();
      }
      expect([one.isRunning, two.isRunning]).toEqual([true, true]);
    },
  );

  it('a restart that is shorter than a lease stops no turn', LONG, async () => {
    await using cluster = new Cluster(backend);
    const server = await cluster.server;
    const one = await cluster.boot({ leaseMs: 60_000 });
    const { id } = await one.send('steps 60 50', {}, { returnImmediately: true });
    const feed = await EventFeed.ofTask(one, id);
    await feed.has((events) => events.some((event) => event.artifactUpdate !== undefined));
    await server.kill();
    await server.startAgain();
    await feed.waitForEnd();
    expect(feed.error).toBeUndefined();
    await one.until(id, 'COMPLETED');
    expect(one.runs('steps 60 50')).toBe(1);
  });

  it('rates are limited by each replica itself', LONG, async () => {
    await using cluster = new Cluster(backend);
    const server = await cluster.server;
    const replica = await cluster.boot({ rateLimit: { requests: 40, windowMs: 600_000 } });
    await server.kill();
    const statuses: number[] = [];
    for (let at = 0; at < 60; at += 1) statuses.push((await replica.call('/.well-known/agent-card.json')).status);
    await server.startAgain();
    expect(statuses.filter((status) => status === 200)).toHaveLength(40);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });
});

async function measureAnswer(answering: Promise<Response>) {
  const began = performance.now();
  const answer = await answering;
  const { status, headers } = answer;
  await answer.body?.cancel();
  return { status, retryAfter: headers.get('retry-after'), ms: performance.now() - began };
}
