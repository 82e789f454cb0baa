import { randomUUID } from 'node:crypto';
import {
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from 'a2a-js-sdk-0.3/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { JavaScript03Peer } from './javascript-0-3-peer.js';
import { BINDINGS, type JsonObject } from './javascript-peer.js';
import { watchfulFetch } from './leaks.js';
import { idOf, MODES, play, stateOf } from './play.js';
import { SCENARIOS } from './scenarios.js';

/** The mounts that speak 0.3, with their scenarios. */
const MOUNTS = [
  { mount: '/spec03', agent: '/spec' },
  { mount: '/', agent: '/' },
] as const;

/** The client cannot say over HTTP+JSON that it does not want to wait: its ProtoJSON has no false. */
const playable = (mode: string, binding: string) => mode !== 'immediate' || binding === 'JSONRPC';

const PLAYS = MOUNTS.flatMap(({ mount, agent }) =>
  SCENARIOS.filter(({ agents, once }) => agents.includes(agent) && once !== true).flatMap((scenario) =>
    BINDINGS.flatMap((binding) =>
      MODES.filter((mode) => playable(mode, binding)).map((mode) => ({
        title: `${mount} ${scenario.name}, ${binding}, ${mode}`,
        mount,
        scenario,
        binding,
        mode,
      })),
    ),
  ),
);
const EVERYWHERE = MOUNTS.flatMap(({ mount }) => BINDINGS.map((binding) => ({ mount, binding })));

const leaks: string[] = [];
let server: ExampleServer;
beforeAll(async () => {
  server = await ExampleServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const connect = (mount: string, binding: (typeof BINDINGS)[number]) =>
  JavaScript03Peer.connect(`${server.url}${mount}`, binding, watchfulFetch(leaks));

describe('official JavaScript client of 0.3: every scenario of the example agents', () => {
  // All of them run at the same time, from the start; each test waits for its own.
  const outcomes = new Map<string, Promise<unknown>>();
  beforeAll(() => {
    for (const { title, mount, scenario, binding, mode } of PLAYS) {
      const outcome = connect(mount, binding)
        .then((peer) => play(peer, scenario, mode))
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      outcomes.set(title, outcome);
    }
  });

  it.each(PLAYS)('$title', { timeout: 60_000 }, async ({ title }) => {
    const error = await outcomes.get(title);
    if (error !== undefined) throw error;
  });
});

describe.each(EVERYWHERE)('official JavaScript client of 0.3 at $mount over $binding', ({ mount, binding }) => {
  /** A task that is at work and stays so until it is canceled. */
  async function beginStream(peer: JavaScript03Peer) {
    const messageId = `test-resubscribe-message-id-${randomUUID()}`;
    const stream = peer.stream({ message: { messageId, parts: [{ text: 'task-cancel' }] } });
    const events: JsonObject[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.statusUpdate !== undefined) break;
    }
    return idOf(events[0]?.task as JsonObject);
  }

  it('cancels, and whoever watches sees the end', { timeout: 30_000 }, async () => {
    const peer = await connect(mount, binding);
    const id = await beginStream(peer);
    const watching = (async () => {
      const events: JsonObject[] = [];
      for await (const event of peer.subscribe(id)) {
        events.push(event);
        if (events.length === 1) await peer.cancel(id, { reason: 'enough' });
      }
      return events;
    })();
    const events = await watching;
    expect(stateOf(events[0]?.task as JsonObject)).toBe('TASK_STATE_WORKING');
    expect(stateOf(events.at(-1)?.statusUpdate as JsonObject)).toBe('TASK_STATE_CANCELED');
    const task = await peer.task(id);
    expect(stateOf(task)).toBe('TASK_STATE_CANCELED');
    // Over HTTP+JSON the client sends no metadata with it.
    if (binding === 'JSONRPC') expect(task.metadata).toEqual({ reason: 'enough' });
    await expect(peer.cancel(id)).rejects.toThrow(TaskNotCancelableError);
    await expect(peer.subscribe(id).next()).rejects.toThrow(/has ended/);
  });

  it('gets the errors of its time', { timeout: 30_000 }, async () => {
    const peer = await connect(mount, binding);
    const { client } = peer;
    const id = 'nobody-knows';
    await expect(peer.task(id)).rejects.toThrow(TaskNotFoundError);
    await expect(peer.cancel(id)).rejects.toThrow(TaskNotFoundError);
    await expect(peer.send({ message: { taskId: id, parts: [{ text: 'x' }] } })).rejects.toThrow(TaskNotFoundError);
    await expect(peer.subscribe(id).next()).rejects.toThrow(/Task not found/);
    await expect(peer.send({ message: { parts: [] } })).rejects.toThrow(/-32602/);
    await expect(client.transport.getExtendedAgentCard()).rejects.toThrow(UnsupportedOperationError);
    const pushNotificationConfig = { id: 'c', url: 'https://x.example' };
    await expect(
      client.transport.setTaskPushNotificationConfig({ taskId: id, pushNotificationConfig }),
    ).rejects.toThrow(mount === '/' ? TaskNotFoundError : PushNotificationNotSupportedError);
    const { task } = await peer.send({ message: { messageId: `tck-complete-task-${id}`, parts: [{ text: 'x' }] } });
    await expect(peer.send({ message: { taskId: idOf(task), parts: [{ text: 'x' }] } })).rejects.toThrow(
      UnsupportedOperationError,
    );
  });
});

it('nothing of the inside is in any error', () => {
  expect(leaks).toEqual([]);
});
