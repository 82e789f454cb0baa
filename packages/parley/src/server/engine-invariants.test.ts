import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../../../test/support/counting-ids.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { ScheduledStorage } from '../../../../test/support/scheduled-storage.js';
import { isInterrupted, isTerminal } from '../model/task-state.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { Scope } from '../store/storage.js';
import type { LogRecord } from '../task/log-record.js';
import type { StreamItem } from '../task/stream-item.js';
import { TaskBuilder } from '../task/task-builder.js';
import { silentLogger } from '../telemetry/logger.js';
import type { AgentExecutor } from './agent-executor.js';
import { DefaultRequestHandler } from './default-request-handler.js';
import type { EventQueue } from './event-queue.js';
import { stateOf } from './execution/record-state.js';
import type { RequestContext } from './request-context.js';
import type { ServerCallContext } from './server-call-context.js';

/** What an agent does, step by step; it comes with the message. */
const STEPS = [
  'working',
  'artifact',
  'append',
  'append',
  'flush',
  'pause',
  'yield',
  'input',
  'auth',
  'complete',
  'fail',
  'reject',
  'message',
  'submitted',
  'throw',
  'garbage',
  'until-aborted',
  'hang',
] as const;
type Step = (typeof STEPS)[number];

type Command =
  | {
      readonly do: 'send' | 'stream';
      readonly script: readonly Step[];
      readonly task: number;
      readonly fresh: boolean;
      readonly immediately: boolean;
      readonly key: number;
    }
  | { readonly do: 'cancel' | 'subscribe' | 'resume' | 'drop' | 'stall'; readonly task: number }
  | { readonly do: 'steps'; readonly picks: readonly number[] }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'restart' };

const script = fc.array(fc.constantFrom(...STEPS), { maxLength: 8 });
const which = fc.nat({ max: 7 });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('send' as const, 'stream' as const),
      script,
      task: which,
      fresh: fc.boolean(),
      immediately: fc.boolean(),
      key: which,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'cancel' as const,
        'subscribe' as const,
        'resume' as const,
        'drop' as const,
        'stall' as const,
      ),
      task: which,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('steps' as const),
      picks: fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 3, 60, 1_000, 6_000, 40_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

interface Reader {
  readonly items: StreamItem[];
  readonly process: { dead: boolean };
  paused: boolean;
  ended: boolean;
  dropped: boolean;
  pull: () => void;
  readonly iterator: AsyncIterator<StreamItem>;
}

interface Sender {
  readonly process: { dead: boolean };
  settled: boolean;
}

const SCOPE: Scope = { agent: 'a', tenant: '', owner: 'ann' };
const LONG = 40;

/** One world: a storage, processes that come and go on it, callers that send, cancel, watch, stall and leave. */
class World {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStorage({ clock: this.clock });
  readonly storage = new ScheduledStorage(this.memory);
  readonly readers: Reader[] = [];
  readonly senders: Sender[] = [];
  readonly executing = new Map<string, RequestContext>();
  overlaps = 0;
  #generation = 0;
  #process = { dead: false };
  #handler: DefaultRequestHandler;
  readonly #executor: AgentExecutor;

  constructor(replies: 'task' | 'either', resumable: boolean) {
    this.#executor = { replies, resumable, execute: (context, events) => this.#run(context, events) };
    this.#handler = this.#boot();
  }

  get handler(): DefaultRequestHandler {
    return this.#handler;
  }

  #boot(): DefaultRequestHandler {
    this.#generation += 1;
    const process = this.#process;
    return new DefaultRequestHandler({
      agent: 'a',
      executor: this.#executor,
      storage: this.storage.view(process),
      clock: this.clock,
      ids: new CountingIds(`g${this.#generation}-`),
      logger: silentLogger,
      limits: {
        waitingMessages: 2,
        bufferEvents: 4,
        readerBufferBytes: 600,
        turnDeadlineMs: 60_000,
        expiryCheckMs: 1e9,
      },
    });
  }

  async #run(context: RequestContext, events: EventQueue): Promise<void> {
    // An agent that ignores its signal may still be about when the next turn begins; one that was not told to stop may not.
    const before = this.executing.get(context.taskId);
    if (before && !before.signal.aborted) this.overlaps += 1;
    this.executing.set(context.taskId, context);
    try {
      const part = context.message.parts[0];
      const steps = part && 'data' in part ? (part.data as readonly Step[]) : [];
      for (const step of steps) await this.#step(step, context, events);
    } finally {
      if (this.executing.get(context.taskId) === context) this.executing.delete(context.taskId);
    }
  }

  async #step(step: Step, context: RequestContext, events: EventQueue): Promise<void> {
    switch (step) {
      case 'working':
        return events.working('busy');
      case 'artifact':
        return void (await events.artifact('whole', { artifactId: 'x' }));
      case 'append':
        return events.append('x', 'chunk '.repeat(10));
      case 'flush':
        return events.flush();
      case 'pause':
        return new Promise((resolve) => void this.clock.after(50, resolve));
      case 'yield':
        return Promise.resolve();
      case 'input':
        return events.inputRequired('and?');
      case 'auth':
        return events.authRequired('who?');
      case 'complete':
        return events.complete('done');
      case 'fail':
        return events.fail();
      case 'reject':
        return events.reject('no');
      case 'message':
        return events.message('hello');
      case 'submitted':
        return events.publish({ task: { status: { state: 'TASK_STATE_SUBMITTED' } } });
      case 'throw':
        throw new Error('agent broke');
      case 'garbage':
        return events.publish({ artifactUpdate: { artifact: { artifactId: '', parts: [] } } });
      case 'until-aborted':
        return new Promise((resolve) => {
          if (context.signal.aborted) resolve();
          context.signal.addEventListener('abort', () => resolve(), { once: true });
        });
      case 'hang':
        return new Promise((resolve) => void this.clock.after(20_000, resolve));
    }
  }

  call(over: Partial<ServerCallContext> = {}): ServerCallContext {
    return { version: '1.0', extensions: [], signal: new AbortController().signal, user: { id: 'ann' }, ...over };
  }

  async taskIds(): Promise<readonly string[]> {
    const page = await this.memory.tasks({
      scope: SCOPE,
      orderBy: 'created',
      limit: 1_000,
      artifacts: false,
      history: false,
    });
    return page.tasks.map(({ task }) => task.id);
  }

  async taskAt(index: number): Promise<string | undefined> {
    const ids = await this.taskIds();
    return ids[index % Math.max(1, ids.length)];
  }

  watch(stream: AsyncIterable<StreamItem>): Reader {
    const iterator = stream[Symbol.asyncIterator]();
    let wake: (() => void) | undefined;
    const reader: Reader = {
      items: [],
      process: this.#process,
      paused: false,
      ended: false,
      dropped: false,
      iterator,
      pull: () => wake?.(),
    };
    const loop = async () => {
      for (;;) {
        if (reader.paused)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const item = await iterator.next();
        if (item.done) break;
        reader.items.push(item.value);
      }
    };
    loop()
      .catch(() => {})
      .finally(() => {
        reader.ended = true;
      });
    this.readers.push(reader);
    return reader;
  }

  sent(promise: Promise<unknown>): void {
    const sender: Sender = { process: this.#process, settled: false };
    const settle = () => {
      sender.settled = true;
    };
    promise.then(settle, settle);
    this.senders.push(sender);
  }

  async apply(command: Command): Promise<void> {
    switch (command.do) {
      case 'send':
      case 'stream': {
        const taskId = command.fresh ? undefined : await this.taskAt(command.task);
        const request = {
          message: {
            // A small set of ids: some sends are repeats, of the same content or of another.
            messageId: `m${command.key}-${this.senders.length % LONG}`,
            role: 'ROLE_USER' as const,
            parts: [{ data: command.script }],
            ...(taskId && { taskId }),
          },
          configuration: { returnImmediately: command.immediately },
        };
        if (command.do === 'send') this.sent(this.#handler.sendMessage(request, this.call()));
        else this.watch(this.#handler.sendStreamingMessage(request, this.call()));
        break;
      }
      case 'cancel': {
        const id = await this.taskAt(command.task);
        if (id) this.sent(this.#handler.cancelTask({ id, metadata: { by: 'test' } }, this.call()));
        break;
      }
      case 'subscribe': {
        const id = await this.taskAt(command.task);
        if (id) this.watch(this.#handler.subscribeToTask({ id }, this.call()));
        break;
      }
      case 'resume': {
        const id = await this.taskAt(command.task);
        if (id) this.watch(this.#handler.subscribeToTask({ id }, this.call({ lastEventId: String(command.task) })));
        break;
      }
      case 'drop': {
        const reader = this.readers[command.task % Math.max(1, this.readers.length)];
        if (reader) {
          reader.dropped = true;
          await reader.iterator.return?.();
        }
        break;
      }
      case 'stall': {
        const reader = this.readers[command.task % Math.max(1, this.readers.length)];
        if (reader) reader.paused = true;
        break;
      }
      case 'steps':
        for (const pick of command.picks) await this.step(pick);
        break;
      case 'advance':
        await this.clock.advance(command.ms);
        break;
      case 'restart':
        await this.restart();
        break;
    }
  }

  /** One thing that is ready happens. */
  async step(pick: number): Promise<void> {
    const { storage, clock } = this;
    if (storage.pending > 0 && (pick % 2 === 0 || clock.pendingSoon === 0)) {
      await storage.pick(pick >> 1, pick % 13 === 0 ? 'fail' : 'run');
    } else {
      await clock.step();
    }
  }

  async drain(): Promise<void> {
    for (let round = 0; round < 10_000 && (this.storage.pending > 0 || this.clock.pendingSoon > 0); round += 1) {
      if (this.storage.pending > 0) await this.storage.pick(0);
      else await this.clock.step();
    }
  }

  async restart(): Promise<void> {
    this.#process.dead = true;
    // What the dead process had asked for has happened or never will, before anyone looks at its leases.
    await this.drain();
    this.#process = { dead: false };
    this.executing.clear();
    this.#handler = this.#boot();
    await this.clock.advance(15_001);
    const started = this.#handler.start();
    await this.drain();
    await started;
  }

  /** Every reader reads on, and time goes by until nothing is left to happen. */
  async finish(): Promise<void> {
    for (const reader of this.readers) {
      reader.paused = false;
      reader.pull();
    }
    for (let round = 0; round < 40; round += 1) {
      await this.drain();
      await this.clock.advance(20_000);
    }
    await this.drain();
  }

  async records(id: string): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = [];
    for (;;) {
      const { records } = await this.memory.records({ agent: 'a', id }, found.length, 1e9);
      if (records.length === 0) return found;
      found.push(...records);
    }
  }
}

async function checkTask(world: World, id: string): Promise<Map<number, string>> {
  const stored = await world.memory.task(SCOPE, id);
  const records = await world.records(id);
  if (!stored) throw new Error(`task ${id} is gone`);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  expect(stored.seq).toBe(records.length);

  const first = records[0]?.event;
  if (!first || !('task' in first)) throw new Error('the first event is the task');
  expect(first.task.status.state).toBe('TASK_STATE_SUBMITTED');

  const builder = TaskBuilder.from(first.task);
  let time = '';
  let turn = 0;
  for (const [index, record] of records.entries()) {
    if (index > 0) builder.apply(record);
    const { event } = record;
    const about =
      'task' in event
        ? [event.task.id, event.task.contextId]
        : 'statusUpdate' in event
          ? [event.statusUpdate.taskId, event.statusUpdate.contextId]
          : [event.artifactUpdate.taskId, event.artifactUpdate.contextId];
    expect(about).toEqual([id, first.task.contextId]);
    const state = stateOf(record);
    if (state && isTerminal(state)) expect(index).toBe(records.length - 1);
    const status =
      'task' in event ? event.task.status : 'statusUpdate' in event ? event.statusUpdate.status : undefined;
    if (status) {
      expect((status.timestamp ?? '') >= time).toBe(true);
      time = status.timestamp ?? '';
    }
    // Turns never interleave: each writes all it writes before the next one begins.
    if (record.turn > 0) {
      expect(record.turn).toBeGreaterThanOrEqual(turn);
      turn = record.turn;
    }
  }
  expect(builder.view()).toEqual(stored.task);
  const second = records[1] && stateOf(records[1]);
  if (records[1]?.turn === 1) {
    expect(['TASK_STATE_WORKING', 'TASK_STATE_REJECTED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED']).toContain(second);
  }
  // Nobody is at work any more: a task has an end, or waits for its caller.
  const { state } = stored.task.status;
  expect(isTerminal(state) || isInterrupted(state), `${id} is stuck in ${state}`).toBe(true);
  return new Map(records.map((record) => [record.seq, record.text]));
}

function checkReader(reader: Reader, logs: Map<string, Map<number, string>>): void {
  let last: number | undefined;
  for (const [index, { seq, event }] of reader.items.entries()) {
    if (seq === undefined) {
      expect('message' in event).toBe(true);
      expect(reader.items).toHaveLength(1);
      return;
    }
    const id =
      'task' in event
        ? event.task.id
        : 'statusUpdate' in event
          ? event.statusUpdate.taskId
          : 'artifactUpdate' in event
            ? event.artifactUpdate.taskId
            : '';
    const log = logs.get(id);
    if ('task' in event) {
      // A snapshot, at the start or after a reset: it never goes back.
      if (last !== undefined) expect(seq).toBeGreaterThanOrEqual(last);
    } else {
      if (last !== undefined) expect(seq).toBe(last + 1);
      expect(JSON.stringify(event)).toBe(log?.get(seq));
    }
    expect(index === 0 || last !== undefined).toBe(true);
    last = seq;
  }
}

const runs = Number(process.env.PARLEY_TEST_LONG ? 20_000 : 1_500);

describe('the invariants of the engine', () => {
  it.each(['task', 'either'] as const)(
    'hold over random interleavings (replies: %s)',
    async (replies) => {
      await fc.assert(
        fc.asyncProperty(
          fc.boolean(),
          fc.array(command, { minLength: 4, maxLength: 40 }),
          async (resumable, commands) => {
            const world = new World(replies, resumable);
            for (const each of commands) await world.apply(each);
            await world.finish();
            const logs = new Map<string, Map<number, string>>();
            for (const id of await world.taskIds()) logs.set(id, await checkTask(world, id));
            for (const reader of world.readers) checkReader(reader, logs);
            expect(world.overlaps).toBe(0);
            expect(world.handler.load.runningTurns).toBe(0);
            expect(world.senders.filter(({ process, settled }) => !process.dead && !settled)).toEqual([]);
            for (const reader of world.readers)
              if (reader.dropped && !reader.paused && !reader.process.dead) expect(reader.ended).toBe(true);
          },
        ),
        { numRuns: runs, endOnFailure: false },
      );
    },
    600_000,
  );
});
