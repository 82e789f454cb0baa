import { expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { A2AError } from '../errors/a2a-error.js';
import type { StreamResponse } from '../model/stream-response.js';
import { silentLogger } from '../telemetry/logger.js';
import type { EventBatches, ReceivedEvent } from './client-transport.js';
import type { ConnectionEvent } from './connection-event.js';
import { type StreamSource, TaskStream } from './task-stream.js';

const status = (state: 'TASK_STATE_WORKING' | 'TASK_STATE_COMPLETED'): StreamResponse => ({
  statusUpdate: { taskId: 't', contextId: 'c', status: { state } },
});

/** A connection that shows what it is told to, and ends with the reason of its signal. */
class Connection {
  readonly #signal: AbortSignal;
  readonly #ready: (readonly ReceivedEvent[])[] = [];
  #wake = (): void => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake());
  }

  show(...events: readonly ReceivedEvent[]): void {
    this.#ready.push(events);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    for (;;) {
      this.#signal.throwIfAborted();
      const batch = this.#ready.shift();
      if (batch !== undefined) yield batch;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A stream of an agent that numbers its events. */
function streamOf(
  clock: ManualClock,
  {
    connect,
    onConnection = () => {},
    ...others
  }: Pick<StreamSource, 'attempts' | 'options'> & {
    readonly connect: (signal: AbortSignal) => EventBatches;
    readonly onConnection?: (event: ConnectionEvent) => void;
  },
): TaskStream {
  return new TaskStream({
    span: 'task',
    taskId: 't',
    lastEventId: undefined,
    resumable: true,
    keepsAlive: true,
    repeatable: false,
    hasTaken: undefined,
    runtime: {
      clock,
      idleClock: clock,
      ids: { random: () => 'r' },
      random: () => 1,
      logger: silentLogger,
      onConnection,
    },
    deadline: () => ({ signal: undefined, release() {} }),
    around: (events) => events,
    open: connect,
    subscribe: (_, { signal }) => connect(signal),
    task: () => Promise.reject(new Error('the task was not expected to be polled')),
    ...others,
  });
}

it.each([
  ['no time', Number.NaN, [5, 10, 20]],
  ['a time in the past', -1, [5, 10, 20]],
  ['a time that timers cannot count', 1e300, [60_000, 60_000, 60_000]],
  ['a short time', 500, [500, 500, 500]],
])('attempts are never made in a burst, whatever the agent asks for: %s', async (_, retryAfterMs, waits) => {
  const clock = new ManualClock();
  const heard: ConnectionEvent[] = [];
  let opened = 0;
  const busy = new A2AError('UNAVAILABLE', 'later', { retryAfterMs });
  const refuse = async function* (): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    opened += 1;
    if (opened === 1) yield [{ event: status('TASK_STATE_WORKING'), id: '1' }];
    throw busy;
  };
  const stream = streamOf(clock, {
    attempts: 3,
    options: { firstMs: 5 },
    connect: refuse,
    onConnection: (event) => heard.push(event),
  });
  await stream.next();
  const end = stream.next().catch((error: unknown) => error);
  for (const [at, ms] of waits.entries()) {
    await clock.settle();
    expect(heard).toHaveLength(at + 1);
    expect(heard[at]).toEqual({
      state: 'interrupted',
      taskId: 't',
      attempt: at + 1,
      attempts: 3,
      waitMs: ms,
      error: busy,
    });
    expect(opened).toBe(at + 1);
    await clock.advance(ms - 1);
    expect(opened).toBe(at + 1);
    await clock.advance(1);
    expect(opened).toBe(at + 2);
  }
  expect(await end).toBe(busy);
  expect(clock.pendingTimers).toBe(0);
});

it('a connection that is silent for too long is given up, but not while its caller thinks', async () => {
  const clock = new ManualClock();
  const connections: Connection[] = [];
  const connect = (signal: AbortSignal): Connection => {
    const connection = new Connection(signal);
    connections.push(connection);
    return connection;
  };
  const stream = streamOf(clock, { attempts: 10, options: { silenceMs: 1_000, firstMs: 10 }, connect });
  const next = async () => {
    const pending = stream.next();
    await clock.settle();
    return pending;
  };
  const first = stream.next();
  await clock.settle();
  connections[0]?.show({ event: status('TASK_STATE_WORKING'), id: '1' });
  expect((await first).value).toEqual(status('TASK_STATE_WORKING'));
  // The caller has the event, and takes its time.
  await clock.advance(5_000);
  expect(connections).toHaveLength(1);
  const second = stream.next();
  await clock.advance(900);
  // A sign of life.
  connections[0]?.show();
  await clock.advance(900);
  expect(connections).toHaveLength(1);
  await clock.advance(200);
  expect(connections).toHaveLength(2);
  expect(stream.breaks).toBe(1);
  connections[1]?.show({ event: status('TASK_STATE_COMPLETED'), id: '2' });
  await clock.settle();
  expect((await second).value).toEqual(status('TASK_STATE_COMPLETED'));
  const end = next();
  await clock.advance(1_000);
  expect(await end).toEqual({ done: true, value: undefined });
  expect(clock.pendingTimers).toBe(0);
});
