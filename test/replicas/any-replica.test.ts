import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../../packages/parley/src/app/limits/ask-counters.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import { parleyJson } from '../cli/parley.js';
import { Receiver } from '../push/receiver.js';
import { median } from '../support/median.js';
import { onSteadyMachine } from '../support/standstill.js';
import { BACKENDS, Cluster } from './backends.js';
import { EventFeed } from './event-feed.js';
import type { Replica } from './replica.js';

const BOOT_MS = 60_000;

describe.each(Object.keys(BACKENDS))('four replicas on %s', (backend) => {
  const cluster = new Cluster(backend);
  let one: Replica;
  let two: Replica;
  let three: Replica;
  let four: Replica;
  beforeAll(async () => {
    // A lease is not lost while the machine stands still.
    const options = { agents: ['/', '/either'], leaseMs: 60_000 };
    [one, two, three, four] = (await cluster.boots(4, options)) as [Replica, Replica, Replica, Replica];
  }, BOOT_MS);
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('take each request of a task on another replica', async () => {
    const stream = await EventFeed.ofMessage(one, 'steps 1000 20');
    const id = await stream.taskId();
    const second = await EventFeed.ofTask(two, id);
    await second.has((events) => events.filter((event) => event.artifactUpdate !== undefined).length >= 5);
    const lists = await Promise.all(
      [one, two, three, four].map(async (replica) => (await replica.call('/a2a/rest/tasks')).json()),
    );
    for (const list of lists) expect((list as { tasks: Task[] }).tasks.map((task) => task.id)).toContain(id);
    const canceled = (await (await three.call(`/a2a/rest/tasks/${id}:cancel`, {})).json()) as Task;
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    for (const feed of [stream, second]) await feed.waitForEnd();
    expect(stream.ids).toEqual(stream.ids.map((_, at) => at + 1));
    expect(second.ids).toEqual(stream.ids.slice(-second.ids.length));
    const [at = 0] = [Math.floor(stream.ids.length / 2)];
    const replay = await EventFeed.ofTask(four, id, String(at));
    await replay.waitForEnd();
    expect(replay.ids).toEqual(stream.ids.slice(at));
    expect(replay.events).toEqual(stream.events.slice(at));
  });

  it('carry on a conversation: a question of one is answered through another', async () => {
    const asked = await one.send('ask');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await four.send('echo yes', { taskId: asked.id });
    expect(answered.status.state).toBe('TASK_STATE_COMPLETED');
    const task = await two.task(asked.id);
    expect(task).toEqual(await three.task(asked.id));
  });

  it('answer a sender whose message runs elsewhere, and the repeat of a message', async () => {
    const messageId = crypto.randomUUID();
    const [first, repeat] = await Promise.all([
      one.send('steps 3 100', { messageId }),
      two.send('steps 3 100', { messageId }),
    ]);
    expect(repeat?.id).toBe(first?.id);
    expect([first?.status.state, repeat?.status.state]).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    expect([one, two, three, four].reduce((sum, replica) => sum + replica.runs('steps 3 100'), 0)).toBe(1);
  });

  it('run an agent that may answer directly once, if two get the same message at once', async () => {
    const messageId = crypto.randomUUID();
    const text = `direct ${messageId}`;
    const answers = await Promise.all(
      [one, two, three, four].map(async (replica) =>
        (await replica.sendRaw(text, { messageId }, { agent: '/either' })).json(),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect([one, two, three, four].reduce((sum, replica) => sum + replica.runs(text), 0)).toBe(1);
  });

  it('abort an idle agent of another replica in less than 100 ms (median)', async () => {
    const times: number[] = [];
    const others: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      const { id } = await one.send('idle', {}, { returnImmediately: true });
      await two.until(id, 'WORKING');
      const sent = performance.now();
      await three.send('echo x');
      const began = performance.now();
      others.push(began - sent);
      const answer = (await (await three.call(`/a2a/rest/tasks/${id}:cancel`, {})).json()) as Task;
      times.push(performance.now() - began);
      expect(answer, JSON.stringify(answer)).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    }
    const [cancel, send] = [median(times), median(others)];
    process.stdout.write(`cancel on ${backend}: median ${cancel.toFixed(0)} ms, a message ${send.toFixed(0)} ms\n`);
    // A message to an agent shows the load of the machine, and the time that its disk takes for a write.
    expect(cancel).toBeLessThan(Math.max(100, 6 * send));
  });

  it('hand the answer of a provider to the agent that waits in another replica', async () => {
    const waiting = await one.send('login');
    expect(waiting.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    const link = new URL(linkOf(waiting));
    const answer = await fetch(`${three.url}${link.pathname}${link.search}&code=pl4nted-s3cret-code`);
    expect(answer.status).toBe(200);
    await two.until(waiting.id, 'COMPLETED');
    expect([one, two, three, four].reduce((sum, replica) => sum + replica.runs('login'), 0)).toBe(1);
    expect((await fetch(`${four.url}${link.pathname}${link.search}&code=again`)).status).toBe(404);
  });

  it('deliver push notifications in order', async () => {
    await using receiver = await Receiver.open();
    const sent = await one.send('steps 30 5', {}, { taskPushNotificationConfig: { url: receiver.url } });
    expect(sent.status.state).toBe('TASK_STATE_COMPLETED');
    const received = await receiver.has((all) => all.some(({ text }) => text.includes('COMPLETED')));
    const seqs = received.map(({ headers }) => Number(String(headers['x-a2a-notification-id']).split('/').at(-1)));
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(seqs).toHaveLength(33);
  });
});

describe.each(Object.keys(BACKENDS))('replicas on %s', (backend) => {
  const cluster = new Cluster(backend);
  const renew = () => cluster.renew();
  afterEach(() => cluster.clear());
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('that run different agents claim only their own turns', { timeout: BOOT_MS }, async () => {
    const [main, other] = [await cluster.boot({ agents: ['/'] }), await cluster.boot({ agents: ['/other'] })];
    const both = await cluster.boot({ agents: ['/', '/other'] });
    const tasks = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        both.send(`steps 200 50`, {}, { agent: at % 2 === 0 ? '/' : '/other', returnImmediately: true }),
      ),
    );
    await vi.waitFor(() => expect(both.runs('steps 200 50')).toBe(6), 15_000);
    both.signal('SIGTERM');
    await both.waitForExit();
    // The agent under /other cannot resume, and is ended by its own replica.
    await Promise.all(
      tasks.filter((_, at) => at % 2 === 1).map(({ id }) => other.until(id, 'FAILED', { agent: '/other' })),
    );
    await vi.waitFor(() => expect(main.runs('steps 200 50')).toBe(3), { timeout: 10_000 });
    expect(other.runs('steps 200 50')).toBe(0);
  });

  it('deliver what the command line replays, while they run', { timeout: BOOT_MS }, async () => {
    const replica = await cluster.boot();
    await using receiver = await Receiver.open((response) => response.writeHead(410).end());
    const { id } = await replica.send('echo x', {}, { taskPushNotificationConfig: { id: 'hook', url: receiver.url } });
    const on = ['--database', (await cluster.server).url];
    const runDeadCommand = (command: string, ...more: string[]) =>
      parleyJson(['push', 'dead', command, id, ...more, ...on]);
    await expect
      .poll(() => runDeadCommand('list'), { timeout: 20_000, interval: 200 })
      .toMatchObject({ queues: [{ configId: 'hook', key: { id } }] });
    receiver.answering = (response) => response.writeHead(204).end();
    const before = receiver.received.length;
    expect(await runDeadCommand('replay', 'hook')).toEqual({ replayed: 1 });
    const received = await receiver.has((all) => all.slice(before).some(({ text }) => text.includes('COMPLETED')));
    expect(received.slice(before)).toHaveLength(3);
    await expect.poll(() => runDeadCommand('list'), { timeout: 10_000 }).toEqual({ queues: [] });
    const { removed } = await parleyJson<{ removed: { tasks: number } }>([
      'db',
      'retention',
      '--finished',
      '0s',
      ...on,
    ]);
    expect(removed.tasks).toBeGreaterThanOrEqual(1);
    expect((await replica.call(`/a2a/rest/tasks/${id}`)).status).toBe(404);
  });

  it('whose clocks are wrong by minutes write the times of the database', { timeout: 3 * BOOT_MS }, () =>
    onSteadyMachine(async () => {
      const [ahead, behind] = [
        await cluster.boot({ clockOffMs: 300_000 }),
        await cluster.boot({ clockOffMs: -300_000 }),
      ];
      for (const replica of [ahead, behind]) {
        const { status } = await replica.send('echo now');
        expect(Math.abs(Date.parse(status.timestamp ?? '') - Date.now())).toBeLessThan(30_000);
      }
      // A lease of the replica with the slow clock has not expired for the other one.
      const { id } = await behind.send('idle', {}, { returnImmediately: true });
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      expect((await ahead.task(id)).status.state).toBe('TASK_STATE_WORKING');
      expect(ahead.runs('idle')).toBe(0);
      behind.signal('SIGKILL');
      await vi.waitFor(() => expect(ahead.runs('idle')).toBe(1), { timeout: 20_000 });
    }, renew),
  );

  it('share the rate of a caller', { timeout: BOOT_MS }, async () => {
    // No disk delays the counters.
    await using quick = new Cluster(backend, ...(backend === 'Redis' ? ['--appendfsync', 'no'] : []));
    for (let requests = 40; ; requests += 1) {
      // Another rate has another window.
      const replicas = await quick.boots(2, { rateLimit: { requests, windowMs: 600_000 } });
      const statuses: number[] = [];
      let slowest = 0;
      for (let at = 0; at < 120; at += 1) {
        const began = performance.now();
        statuses.push((await (replicas[at % 2] as Replica).call('/.well-known/agent-card.json')).status);
        slowest = Math.max(slowest, performance.now() - began);
      }
      await quick.clear();
      // A replica that waits so long for the database counts by itself.
      if (slowest >= PATIENCE_MS) continue;
      expect(statuses.filter((status) => status === 200)).toHaveLength(requests);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      return;
    }
  });
});

function linkOf({ status }: Task): string {
  for (const part of status.message?.parts ?? []) {
    if (part.data !== undefined) return (part.data as { authorization: { url: string } }).authorization.url;
  }
  throw new Error('There is no link');
}
