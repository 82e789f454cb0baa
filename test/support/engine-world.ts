import fc from 'fast-check';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { DefaultRequestHandler } from '../../packages/parley/src/server/default-request-handler.js';
import type { EventQueue } from '../../packages/parley/src/server/event-queue.js';
import type { RequestContext } from '../../packages/parley/src/server/request-context.js';
import type { ServerCallContext } from '../../packages/parley/src/server/server-call-context.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import type { Scope } from '../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../packages/parley/src/task/log-record.js';
import type { StreamItem } from '../../packages/parley/src/task/stream-item.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { CountingIds } from './counting-ids.js';
import { ManualClock } from './manual-clock.js';
import { ScheduledStorage } from './scheduled-storage.js';

/** Steps of an agent. The message selects them. */
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

export type Command =
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
  | { readonly do: 'restart' }
  | { readonly do: 'close'; readonly graceMs: number };

const script = fc.array(fc.constantFrom(...STEPS), { maxLength: 8 });
const which = fc.nat({ max: 7 });
export const command: fc.Arbitrary<Command> = fc.oneof(
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
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('close' as const), graceMs: fc.constantFrom(0, 60, 5_000) }),
  },
);

export interface Reader {
  readonly items: StreamItem[];
  readonly process: Process;
  readonly of: 'message' | 'task';
  paused: boolean;
  /** The reader was too slow once, so the server may have disconnected it. */
  stalled: boolean;
  ended: boolean;
  failed: boolean;
  dropped: boolean;
  pull: () => void;
  readonly iterator: AsyncIterator<StreamItem>;
}

/** A process of the world. A dead one was killed, a closed one has shut down in order. */
interface Process {
  dead: boolean;
  closing: boolean;
  closed: boolean;
}

export interface Sender {
  readonly process: Process;
  settled: boolean;
}

export const SCOPE: Scope = { agent: 'a', tenant: '', owner: 'ann' };
const LONG = 40;

/** One world: a storage, its processes, and callers that send, cancel, watch, stall and leave. */
export class World {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStorage({ clock: this.clock });
  readonly storage: ScheduledStorage;
  readonly readers: Reader[] = [];
  readonly senders: Sender[] = [];
  readonly executing = new Map<string, RequestContext>();
  overlaps = 0;
  /** Agents that began in a closed process. */
  lateStarts = 0;
  #generation = 0;
  #process: Process = { dead: false, closing: false, closed: false };
  #handler: DefaultRequestHandler;
  readonly #handlers: DefaultRequestHandler[] = [];
  readonly #agent: Pick<AgentExecutor, 'replies' | 'resumable'>;

  constructor(replies: 'task' | 'either', resumable: boolean, commands: readonly Command[]) {
    // Only a shared storage has other processes. They find unfinished turns when a lease ends.
    const shared = commands.some((each) => each.do === 'restart' || each.do === 'close');
    this.storage = new ScheduledStorage(this.memory, shared);
    this.#agent = { replies, resumable };
    this.#handler = this.#boot();
  }

  get handler(): DefaultRequestHandler {
    return this.#handler;
  }

  #boot(): DefaultRequestHandler {
    this.#generation += 1;
    const process = this.#process;
    const executor: AgentExecutor = {
      ...this.#agent,
      execute: (context, events) => {
        if (process.closed) this.lateStarts += 1;
        return this.#run(context, events);
      },
    };
    const handler = new DefaultRequestHandler({
      agent: 'a',
      executor,
      storage: this.storage.view(process),
      clock: this.clock,
      ids: new CountingIds(`g${this.#generation}-`),
      logger: silentLogger,
      limits: {
        waitingMessages: 2,
        bufferEvents: 4,
        readerBufferBytes: 600,
        turnDeadlineMs: 60_000,
        waitingExpiryMs: 120_000,
        expiryCheckMs: 1e9,
      },
    });
    this.#handlers.push(handler);
    return handler;
  }

  /** Running turns in processes that were not killed. */
  get runningTurns(): number {
    return this.#handlers.reduce((sum, handler) => sum + handler.load.runningTurns, 0);
  }

  async #run(context: RequestContext, events: EventQueue): Promise<void> {
    // An agent that ignores its signal may still run when the next turn begins. An agent that was not told to stop may
    // not.
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

  watch(stream: AsyncIterable<StreamItem>, of: Reader['of']): Reader {
    const iterator = stream[Symbol.asyncIterator]();
    let wake: (() => void) | undefined;
    const reader: Reader = {
      items: [],
      process: this.#process,
      of,
      paused: false,
      stalled: false,
      ended: false,
      failed: false,
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
      .catch(() => {
        reader.failed = true;
      })
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
            // A small set of ids, so that some sends repeat an id with the same or another content.
            messageId: `m${command.key}-${this.senders.length % LONG}`,
            role: 'ROLE_USER' as const,
            parts: [{ data: command.script }],
            ...(taskId && { taskId }),
          },
          configuration: { returnImmediately: command.immediately },
        };
        if (command.do === 'send') this.sent(this.#handler.sendMessage(request, this.call()));
        else this.watch(this.#handler.sendStreamingMessage(request, this.call()), 'message');
        break;
      }
      case 'cancel': {
        const id = await this.taskAt(command.task);
        if (id) this.sent(this.#handler.cancelTask({ id, metadata: { by: 'test' } }, this.call()));
        break;
      }
      case 'subscribe': {
        const id = await this.taskAt(command.task);
        if (id) this.watch(this.#handler.subscribeToTask({ id }, this.call()), 'task');
        break;
      }
      case 'resume': {
        const id = await this.taskAt(command.task);
        if (id)
          this.watch(this.#handler.subscribeToTask({ id }, this.call({ lastEventId: String(command.task) })), 'task');
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
        if (reader) {
          reader.paused = true;
          reader.stalled = true;
        }
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
      case 'close':
        this.close(command.graceMs);
        break;
    }
  }

  /** Runs one of the ready actions. */
  async step(pick: number): Promise<void> {
    const { storage, clock } = this;
    if (storage.pending > 0 && (pick % 2 === 0 || clock.pendingSoon === 0)) {
      await storage.pick(pick >> 1, pick % 13 === 0 ? 'fail' : pick % 3 === 0 ? 'late' : 'run');
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
    // Settles all requests of the dead process before other processes look at its leases.
    await this.drain();
    this.#handlers.pop();
    this.#process = { dead: false, closing: false, closed: false };
    this.executing.clear();
    this.#handler = this.#boot();
    await this.clock.advance(15_001);
    const started = this.#handler.start();
    await this.drain();
    await started;
  }

  /** Shuts the process down while everything else goes on. Another one replaces it after that. */
  close(graceMs: number): void {
    const process = this.#process;
    if (process.closing) return;
    process.closing = true;
    void this.#handler.close({ graceMs }).then(() => {
      process.closed = true;
      if (process.dead) return;
      // Its storage calls have run before the next process looks at its tasks.
      this.storage.settle(process);
      this.#process = { dead: false, closing: false, closed: false };
      this.#handler = this.#boot();
      this.#start(this.#handler);
    });
  }

  /** Starts an engine as its host does, and retries while the storage fails. */
  #start(handler: DefaultRequestHandler): void {
    handler.start().catch(() => this.clock.after(1_000, () => this.#start(handler)));
  }

  /** Lets every reader read on, and advances time until nothing is left to do. */
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
      const { records } = await this.memory.records({ scope: SCOPE, id }, found.length, 1e9);
      if (records.length === 0) return found;
      found.push(...records);
    }
  }
}
