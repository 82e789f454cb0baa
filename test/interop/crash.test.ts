import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { StreamResponse } from '@a2a-js/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { ExampleServer, temporaryFolder } from './example-server.js';
import { BINDINGS, JavaScriptPeer, type JsonObject } from './javascript-peer.js';
import { watchfulFetch } from './leaks.js';
import { idOf, stateOf } from './play.js';
import type { Json } from './scenarios.js';
import { collect, Wire } from './wire.js';

const ENDED = /COMPLETED|FAILED|CANCELED|REJECTED/;

/** Everything a client was told before the server died. */
class Witness {
  /** Tasks as they were last read, by id: they had ended, or waited. */
  readonly settled = new Map<string, JsonObject>();
  /** Events as they were shown, by task. */
  readonly shown = new Map<string, JsonObject[]>();
  /** Agents by task. */
  readonly agents = new Map<string, string>();
  /** Resolves in the middle of the work: much is done, much is under way. */
  readonly enough: Promise<void>;
  #answers = 0;
  #tellEnough: () => void = () => {};
  readonly leaks: string[];

  constructor(leaks: string[]) {
    this.leaks = leaks;
    this.enough = new Promise((resolve) => {
      this.#tellEnough = resolve;
    });
  }

  /** Sends for ever, over both bindings, until the server is gone. */
  async keepSending(server: ExampleServer): Promise<void> {
    const clients = ['/spec', '/tck', '/hello'].flatMap((agent) =>
      BINDINGS.map(async (binding) => ({
        agent,
        peer: await JavaScriptPeer.connect(server.url + agent, binding, watchfulFetch(this.leaks)),
      })),
    );
    for (const { agent, peer } of await Promise.all(clients)) {
      const texts =
        agent === '/spec'
          ? ['data-types', 'streaming', 'multi-turn', 'task-cancel', 'task-lifecycle', 'long-running']
          : ['hi'];
      for (const text of texts) {
        void this.#until(() => this.#stream(peer, agent, text));
        void this.#until(() => this.#send(peer, agent, text));
      }
    }
  }

  async #until(step: () => Promise<void>): Promise<void> {
    try {
      for (;;) await step();
    } catch {
      // The server is gone: what was told by then is what counts.
    }
  }

  async #stream(peer: JavaScriptPeer, agent: string, text: string): Promise<void> {
    const events: JsonObject[] = [];
    for await (const event of peer.stream({ message: { parts: [{ text }] } })) {
      events.push(event);
      if (!('task' in event)) continue;
      const id = idOf(event.task as JsonObject);
      this.shown.set(id, events);
      this.agents.set(id, agent);
    }
    this.#answered();
    await this.#read(peer, agent, idOf(events[0]?.task as JsonObject));
  }

  async #send(peer: JavaScriptPeer, agent: string, text: string): Promise<void> {
    const long = text === 'task-cancel' || text === 'long-running';
    const configuration: Record<string, Json> = long ? { returnImmediately: true } : {};
    const { task } = await peer.send({ message: { parts: [{ text }] }, configuration });
    this.#answered();
    const id = idOf(task);
    this.agents.set(id, agent);
    if (long) await collectAll(peer.subscribe(id));
    await this.#read(peer, agent, id);
  }

  async #read(peer: JavaScriptPeer, agent: string, id: string): Promise<void> {
    const task = await peer.task(id);
    this.agents.set(id, agent);
    this.settled.set(id, task);
    this.#answered();
  }

  #answered(): void {
    if (++this.#answers > 150 && [...this.shown.values()].some((events) => events.length > 3)) this.#tellEnough();
  }
}

async function collectAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

describe('a server that is killed in the middle of its work', () => {
  it('has lost nothing of what it said when it runs again', { timeout: 90_000 }, async () => {
    const [folder, port] = [await temporaryFolder(), await freePort()];
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const leaks: string[] = [];
    const witnesses: Witness[] = [];

    for (let round = 0; round < 3; round++) {
      const server = await ExampleServer.start({ folder, port });
      const witness = new Witness(leaks);
      witnesses.push(witness);
      await witness.keepSending(server);
      await witness.enough;
      await server.kill();
    }

    await using server = await ExampleServer.start({ folder, port });
    const wire = new Wire(server.url);
    const peers = new Map<string, JavaScriptPeer>();
    for (const agent of ['/spec', '/tck', '/hello']) {
      peers.set(agent, await JavaScriptPeer.connect(server.url + agent, 'JSONRPC', watchfulFetch(leaks)));
    }
    const peerOf = (agent: string | undefined) => peers.get(agent ?? '') as JavaScriptPeer;

    const states: Record<string, number> = {};
    for (const { settled, shown, agents } of witnesses) {
      for (const [id, agent] of agents) {
        const task = await endedOrWaiting(peerOf(agent), id);
        states[stateOf(task)] = (states[stateOf(task)] ?? 0) + 1;

        // A task that was ended or waiting is unchanged. A running one tells why it ended.
        const before = settled.get(id);
        if (before !== undefined) expect(task).toEqual(before);
        else if (stateOf(task) === 'TASK_STATE_FAILED') {
          expect(task).toMatchObject({ status: { message: { parts: [{ text: expect.stringMatching(/./) }] } } });
        }

        // Every event that was shown is in the log, at its place.
        const seen = shown.get(id);
        if (seen === undefined || !ENDED.test(stateOf(task))) continue;
        const frames = await collect(
          wire.frames(`${agent}/tasks/${id}:subscribe`, { headers: { 'last-event-id': '0' } }),
        );
        const replayed = frames.map(({ data }) => StreamResponse.toJSON(StreamResponse.fromJSON(data)));
        expect(replayed.slice(0, seen.length)).toEqual(seen);
        expect(frames.map(({ id: number }) => number)).toEqual(frames.map((_, index) => String(index + 1)));
      }
    }
    expect(states).toMatchObject({
      TASK_STATE_COMPLETED: expect.any(Number),
      TASK_STATE_INPUT_REQUIRED: expect.any(Number),
      TASK_STATE_FAILED: expect.any(Number),
    });

    // Nothing is stuck, also of what no client heard of.
    for (const agent of peers.keys()) {
      for (const state of ['SUBMITTED', 'WORKING']) {
        expect((await peerOf(agent).list({ status: `TASK_STATE_${state}` })).totalSize).toBe(0);
      }
    }

    // Waiting tasks can go on or be canceled.
    const [first, second] = witnesses
      .flatMap(({ settled, agents }) => [...settled].filter(([id]) => agents.get(id) === '/spec'))
      .filter(([, task]) => stateOf(task) === 'TASK_STATE_INPUT_REQUIRED')
      .map(([id]) => id);
    const done = { message: { messageId: randomUUID(), taskId: String(first), parts: [{ text: 'done' }] } };
    expect((await peerOf('/spec').send(done)).task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'turn-1' }, { artifactId: 'final' }],
    });
    expect(await peerOf('/spec').cancel(String(second))).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(leaks).toEqual([]);
  });
});

/** The task once nothing runs on it. */
async function endedOrWaiting(peer: JavaScriptPeer, id: string): Promise<JsonObject> {
  const task = await peer.task(id);
  if (!/SUBMITTED|WORKING/.test(stateOf(task))) return task;
  for await (const event of peer.subscribe(id)) {
    const change = (event.statusUpdate ?? event.task) as JsonObject | undefined;
    if (change !== undefined && !/SUBMITTED|WORKING/.test(stateOf(change))) break;
  }
  return peer.task(id);
}
