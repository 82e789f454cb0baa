import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer, GRPC_AGENTS } from './example-server.js';
import { JavaScript03Peer } from './javascript-0-3-peer.js';
import type { JsonObject } from './javascript-peer.js';
import { idOf, MODES, play, stateOf } from './play.js';
import { SCENARIOS } from './scenarios.js';

/** The client cannot say that it does not want to wait: it leaves out `blocking` if it is false. */
const PLAYABLE = MODES.filter((mode) => mode !== 'immediate');
const PLAYS = [
  { mount: '/spec03', agent: '/spec' },
  { mount: '/', agent: '/' },
].flatMap(({ mount, agent }) =>
  SCENARIOS.filter(({ agents, once }) => agents.includes(agent) && once !== true).flatMap((scenario) =>
    PLAYABLE.map((mode) => ({ title: `${mount} ${scenario.name}, ${mode}`, mount, scenario, mode })),
  ),
);

describe('official JavaScript client of 0.3 over gRPC', () => {
  const outcomes = new Map<string, Promise<unknown>>();
  let server: ExampleServer;
  const connectTo = (mount: string) => JavaScript03Peer.connect(`${server.url}${mount}`, 'GRPC', fetch);

  beforeAll(async () => {
    server = await ExampleServer.start({ program: GRPC_AGENTS });
    for (const { title, mount, scenario, mode } of PLAYS) {
      const outcome = connectTo(mount).then((peer) => play(peer, scenario, mode));
      outcomes.set(
        title,
        outcome.then(
          () => undefined,
          (error: unknown) => error,
        ),
      );
    }
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each(PLAYS)('plays $title', { timeout: 60_000 }, async ({ title }) => {
    const error = await outcomes.get(title);
    if (error !== undefined) throw error;
  });

  it('cancels a task that it watches, and sees the end', { timeout: 30_000 }, async () => {
    const peer = await connectTo('/spec03');
    const messageId = `test-resubscribe-message-id-${randomUUID()}`;
    const states: unknown[] = [];
    let id = '';
    for await (const event of peer.stream({ message: { messageId, parts: [{ text: 'task-cancel' }] } })) {
      const shown = (event.task ?? event.statusUpdate) as JsonObject;
      if (event.task !== undefined) id = idOf(shown);
      states.push(stateOf(shown));
      if (states.at(-1) === 'TASK_STATE_WORKING') await peer.cancel(id);
    }
    expect(states.at(-1)).toBe('TASK_STATE_CANCELED');
    expect(stateOf(await peer.task(id))).toBe('TASK_STATE_CANCELED');
  });

  it('gets refusals as errors', { timeout: 30_000 }, async () => {
    const peer = await connectTo('/spec03');
    await expect(peer.task(randomUUID())).rejects.toThrow(/not found/i);
    await expect(peer.cancel(randomUUID())).rejects.toThrow(/not found/i);
    await expect(peer.subscribe(randomUUID()).next()).rejects.toThrow(/not found/i);
    await expect(peer.send({ message: { parts: [] } })).rejects.toThrow();
  });
});
