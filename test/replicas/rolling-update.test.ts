import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Task } from '../../packages/parley/src/model/task.js';
import { lastVersionServer } from '../last-version/unpacked.js';
import { Receiver, seqOf } from '../push/receiver.js';
import { BACKENDS, Cluster } from './backends.js';
import { EventFeed } from './event-feed.js';
import type { Replica } from './replica.js';

const LONG = { timeout: 60_000 };
const AGENTS = ['/', '/once', '/either'];
const VERSIONS = {
  last: () => ({ program: lastVersionServer(), agents: AGENTS }),
  current: () => ({ agents: AGENTS }),
};
const DIRECTIONS = [
  ['last', 'current'],
  ['current', 'last'],
] as const;

// The backends run beside each other. On each of them, one test runs after the other.
describe.concurrent.each(Object.keys(BACKENDS))('a rolling update on %s', (backend) => {
  const cluster = new Cluster(backend);
  afterAll(() => cluster[Symbol.asyncDispose]());

  describe.sequential.each(DIRECTIONS)('a task that the %s version begins', (begins, goesOn) => {
    let one: Replica;
    let two: Replica;
    beforeAll(async () => {
      one = await cluster.boot(VERSIONS[begins]());
      two = await cluster.boot(VERSIONS[goesOn]());
    });
    afterAll(() => cluster.clear());

    it('is read, streamed, replayed and canceled on the other', LONG, async () => {
      const stream = await EventFeed.ofMessage(one, 'steps 1000 20');
      const id = await stream.taskId();
      const second = await EventFeed.ofTask(two, id);
      await second.has((events) => events.filter((event) => event.artifactUpdate !== undefined).length >= 5);
      const list = (await (await two.call('/a2a/rest/tasks')).json()) as { readonly tasks: readonly Task[] };
      expect(list.tasks.map((task) => task.id)).toContain(id);
      const metadata = { 'https://example.com/reason': { why: 'late' } };
      const canceled = (await (await two.call(`/a2a/rest/tasks/${id}:cancel`, { metadata })).json()) as Task;
      expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
      for (const feed of [stream, second]) await feed.waitForEnd();
      expect(stream.ids).toEqual(stream.ids.map((_, at) => at + 1));
      expect(second.ids).toEqual(stream.ids.slice(-second.ids.length));
      const replay = await EventFeed.ofTask(two, id, '2');
      await replay.waitForEnd();
      expect(replay.events).toEqual(stream.events.slice(2));
      expect(await one.task(id)).toEqual(await two.task(id));
    });

    it('keeps the metadata of two cancels, one through each', LONG, async () => {
      const { id } = await one.send('linger', {}, { returnImmediately: true });
      await two.until(id, 'WORKING');
      const cancel = (replica: Replica, name: string) =>
        replica.call(`/a2a/rest/tasks/${id}:cancel`, { metadata: { [`https://example.com/${name}`]: { name } } });
      await Promise.all([cancel(one, 'one'), cancel(two, 'two')]);
      const task = await two.until(id, 'CANCELED');
      expect(task.metadata).toEqual({
        'https://example.com/one': { name: 'one' },
        'https://example.com/two': { name: 'two' },
      });
      expect(await one.task(id)).toEqual(task);
    });

    it('is answered on the other, and the repeat of its message finds it', LONG, async () => {
      const messageId = crypto.randomUUID();
      const asked = await one.send('ask', { messageId });
      expect((await two.send('ask', { messageId })).id).toBe(asked.id);
      const answered = await two.send('echo yes', { taskId: asked.id });
      expect(answered.status.state).toBe('TASK_STATE_COMPLETED');
      expect(await one.task(asked.id)).toEqual(await two.task(asked.id));
      const together = crypto.randomUUID();
      const both = await Promise.all([one, two].map((replica) => replica.send('steps 3 100', { messageId: together })));
      expect(both[0]?.id).toBe(both[1]?.id);
      expect(one.runs('steps 3 100') + two.runs('steps 3 100')).toBe(1);
    });

    it('waits for a login, whose answer comes to the other', LONG, async () => {
      const waiting = await one.send('login');
      const url = /https?:\/\/[^"\s]+/.exec(JSON.stringify(waiting.status.message))?.[0] ?? '';
      const { pathname, search } = new URL(url);
      const answer = await fetch(`${two.url}${pathname}${search}&code=pl4nted-s3cret-code`);
      expect(answer.status).toBe(200);
      await two.until(waiting.id, 'COMPLETED');
      expect(one.runs('login') + two.runs('login')).toBe(1);
    });

    it('goes on when its process is killed, with its stream and its notifications', LONG, async () => {
      await using receiver = await Receiver.open();
      const hook = { url: receiver.url };
      const sending = { returnImmediately: true, taskPushNotificationConfig: hook };
      const { id } = await one.send('steps 40 50', {}, sending);
      const once = await one.send('idle', {}, { agent: '/once', returnImmediately: true });
      const feed = await EventFeed.ofTask(two, id);
      await feed.has((events) => events.some((event) => event.artifactUpdate !== undefined));
      one.signal('SIGKILL');
      await vi.waitFor(() => expect(two.lines).toContain('ran steps 40 50 attempt 2'), 15_000);
      await two.until(once.id, 'FAILED', { agent: '/once' });
      await two.until(id, 'COMPLETED');
      await feed.waitForEnd();
      expect(feed.ids).toEqual(feed.ids.map((_, at) => (feed.ids[0] ?? 0) + at));
      const all = await receiver.has((got) => got.some(({ text }) => text.includes('TASK_STATE_COMPLETED')));
      const order = [...new Set(all.map(seqOf))];
      expect(order).toEqual(order.map((_, at) => at + 1));
    });
  });
});
