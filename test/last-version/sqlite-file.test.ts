import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { TaskPushNotificationConfig } from '../../packages/parley/src/model/push-notification-config.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import { Receiver } from '../push/receiver.js';
import { EventFeed } from '../replicas/event-feed.js';
import { Replica } from '../replicas/replica.js';
import { lastVersionServer } from './unpacked.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-last-version-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'a SQLite file of the last version, which %s ended, goes on',
  async (signal) => {
    await using receiver = await Receiver.open();
    const database = `sqlite:${join(folder, `${signal}.db`)}`;
    const done = { messageId: crypto.randomUUID() };
    const hook = { id: 'hook', url: receiver.url };

    await using last = await Replica.start(database, { program: lastVersionServer() });
    const finished = await last.send('steps 3 1', done, { taskPushNotificationConfig: hook });
    const asked = await last.send('ask', { metadata: { 'https://example.com/m': { level: 1 } } });
    const stream = await EventFeed.ofMessage(last, 'steps 60 50');
    const running = await stream.taskId();
    await last.call(`/a2a/rest/tasks/${running}/pushNotificationConfigs`, hook);
    await stream.has((events) => events.filter((event) => event.artifactUpdate !== undefined).length > 3);
    await receiver.has((all) => all.some(({ body }) => 'artifactUpdate' in body));
    const before = [await last.task(finished.id), await last.task(asked.id)];
    const events = await eventsOf(last, finished.id);
    expect(events.length).toBeGreaterThan(8);
    last.signal(signal);
    await last.waitForExit();

    await using current = await Replica.start(database);
    expect([await current.task(finished.id), await current.task(asked.id)]).toEqual(before);
    expect(await eventsOf(current, finished.id)).toEqual(events);
    const { tasks } = (await (await current.call('/a2a/rest/tasks')).json()) as { readonly tasks: readonly Task[] };
    expect(new Set(tasks.map(({ id }) => id))).toEqual(new Set([finished.id, asked.id, running]));
    // The key of the message is kept: its repeat runs nothing.
    expect((await current.send('steps 3 1', done)).id).toBe(finished.id);
    expect(current.runs('steps 3 1')).toBe(0);
    expect((await current.send('echo yes', { taskId: asked.id })).status.state).toBe('TASK_STATE_COMPLETED');
    // The turn goes on, with the numbers of its events.
    const rest = await EventFeed.ofTask(current, running, String(stream.ids.at(-1)));
    await rest.waitForEnd();
    await current.until(running, 'COMPLETED');
    expect(current.runs('steps 60 50')).toBe(1);
    expect(rest.ids[0]).toBe((stream.ids.at(-1) ?? 0) + 1);
    const listed = await current.call(`/a2a/rest/tasks/${running}/pushNotificationConfigs`);
    const { configs } = (await listed.json()) as { readonly configs: readonly TaskPushNotificationConfig[] };
    expect(configs).toMatchObject([hook]);
    await receiver.has((all) =>
      all.some(({ text }) => text.includes(running) && text.includes('TASK_STATE_COMPLETED')),
    );
  },
);

/** All events of a task, read from its first on. */
async function eventsOf(replica: Replica, id: string): Promise<readonly unknown[]> {
  const answer = await replica.call(`/a2a/rest/tasks/${id}:subscribe`, {}, { 'last-event-id': '0' });
  return (await answer.text()).split('\n').filter((line) => line.startsWith('data:') || line.startsWith('id:'));
}
