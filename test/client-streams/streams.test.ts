import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connect,
  type SendInput,
  STREAM_RESUME_EXTENSION,
  type TaskStream,
} from '../../packages/parley/src/exports/client.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import type { StreamResponse, TaskEvent } from '../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import { TaskBuilder } from '../../packages/parley/src/task/task-builder.js';
import { framesOf } from '../../packages/parley/test/exchange-request.js';
import { BreakingProxy } from './breaking-proxy.js';
import { talkativeAgent } from './talkative-agent.js';

const STREAMS = process.env.TEST_LONG === undefined ? 100 : 1_000;
const AT_ONCE = 8;
const SEED = Number(process.env.STREAMS_SEED ?? 1) * 100_000;
const RETRIES = { attempts: 20, firstMs: 1, longestMs: 4 };

describe.each([
  { withIds: true, binding: 'JSONRPC', version: '1.0' },
  { withIds: true, binding: 'HTTP+JSON', version: '1.0' },
  { withIds: false, binding: 'JSONRPC', version: '1.0' },
  { withIds: false, binding: 'HTTP+JSON', version: '1.0' },
  { withIds: true, binding: 'JSONRPC', version: '0.3' },
])('streams through a proxy that breaks them, over $binding in $version, numbered: $withIds', (row) => {
  const { withIds, binding, version } = row;
  const proxy = new BreakingProxy({ withoutIds: !withIds });
  const server = createA2AServer({ agent: talkativeAgent, idempotency: { anonymous: true } });
  const count = STREAMS / 4;
  let card: AgentCard;
  let breaks = 0;

  beforeAll(async () => {
    const [through, { url }] = await Promise.all([proxy.listen(), server.listen(0)]);
    proxy.target = Number(new URL(url).port);
    const { supportedInterfaces, capabilities, ...others } = server.agentCard;
    const extensions = (capabilities.extensions ?? []).filter(({ uri }) => withIds || uri !== STREAM_RESUME_EXTENSION);
    card = {
      ...others,
      capabilities: { ...capabilities, extensions },
      supportedInterfaces: supportedInterfaces.map((item) => ({ ...item, url: item.url.replace(url, through) })),
    };
  });

  afterAll(async () => {
    await proxy.close();
    await server.close({ graceMs: 0 });
  });

  it('show each caller exactly what the server has', { timeout: 300_000 }, async () => {
    const seeds = Array.from({ length: count }, (_, at) => SEED + at);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) await play(seed);
      }),
    );
    const { none: _, pieces: __, ...broken } = proxy.faults;
    // Each fault must have occurred.
    expect(Object.entries(broken).filter(([, times]) => times < count / 10)).toEqual([]);
    expect(breaks).toBeGreaterThan(count / 2);
  });

  /** Plays a conversation of one or two turns, and compares it with the log of the server. */
  async function play(seed: number): Promise<void> {
    const client = await connect(card, {
      binding,
      version,
      headers: { 'x-luck': String(seed) },
      retry: RETRIES,
      resume: RETRIES,
    });
    const turns: Heard[] = [];
    let input: SendInput = `say ${seed}`;
    do {
      const turn = await readStream(client.sendStreamingMessage(input));
      turns.push(turn);
      breaks += turn.breaks;
      const { status, artifacts } = (await fetchPath(`/tasks/${turn.taskId}`).then((answer) => answer.json())) as Task;
      expect(foldEvents(turn.events), `seed ${seed}`).toEqual({ status, artifacts });
      input = { message: { parts: [{ text: `answer ${seed}` }], taskId: turn.taskId } };
    } while (turns.at(-1)?.state === 'TASK_STATE_INPUT_REQUIRED');
    const log = await logOf(turns[0]?.taskId ?? '');
    for (const turn of turns) (withIds ? expectSame : expectOrder)(turn.events, log, `seed ${seed}`);
    if (withIds) expect(turns.at(-1)?.events.at(-1), `seed ${seed}`).toEqual(log.at(-1));
  }

  /** The log of the server, read without the proxy. */
  async function logOf(taskId: string): Promise<Numbered[]> {
    const answer = await fetchPath(`/tasks/${taskId}:subscribe`, { 'last-event-id': '0' });
    return framesOf(await answer.text()).map(({ id, data }) => ({ id, event: data as TaskEvent }));
  }

  function fetchPath(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`${server.url}/a2a/rest${path}`, { headers: { 'a2a-version': '1.0', ...headers } });
  }
});

interface Numbered {
  readonly id: string | undefined;
  readonly event: StreamResponse;
}

interface Heard {
  readonly events: readonly Numbered[];
  readonly taskId: string;
  readonly state: TaskStream['state'];
  readonly breaks: number;
}

async function readStream(stream: TaskStream): Promise<Heard> {
  const events: Numbered[] = [];
  for await (const event of stream) events.push({ id: stream.lastEventId, event });
  const { taskId = '', state, breaks } = stream;
  return { events, taskId, state, breaks };
}

/** Expects every event of the log of the turn, under its number. */
function expectSame(events: readonly Numbered[], log: readonly Numbered[], place: string): void {
  const [first, ...rest] = events;
  const from = log.findIndex(({ id }) => id === first?.id);
  // A later turn begins with the task before it.
  if (from === 0) expect(first, place).toEqual(log[0]);
  else expect(first?.event, place).toHaveProperty('task.id');
  expect(rest, place).toEqual(log.slice(from + 1, from + 1 + rest.length));
}

/** Expects no repeated event, and the order of the log. */
function expectOrder(events: readonly Numbered[], log: readonly Numbered[], place: string): void {
  const texts = log.map(({ event }) => JSON.stringify(event));
  let at = -1;
  for (const { event } of events) {
    if (event.task !== undefined) continue;
    const found = texts.indexOf(JSON.stringify(event), at + 1);
    expect(found, `${place}: ${JSON.stringify(event)}`).toBeGreaterThan(at);
    at = found;
  }
}

/** The task after the events. */
function foldEvents(events: readonly Numbered[]): unknown {
  const [first, ...rest] = events.map(({ event }) => event);
  if (first === undefined || first.task === undefined) throw new Error('a stream begins with a task');
  const builder = new TaskBuilder(first.task);
  for (const event of rest) builder.apply({ event: event as TaskEvent, seq: 0, turn: 0 } as never);
  const { status, artifacts } = builder.view();
  return { status, artifacts };
}
