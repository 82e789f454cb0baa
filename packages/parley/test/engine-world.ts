import { KeyedPlaces } from '../src/runtime/keyed-places.js';
import type { AgentExecutor } from '../src/server/agent-executor.js';
import { DefaultRequestHandler } from '../src/server/default-request-handler.js';
import type { EventQueue } from '../src/server/event-queue.js';
import type { RequestContext } from '../src/server/request-context.js';
import type { ServerCallContext } from '../src/server/server-call-context.js';
import { MemoryStorage } from '../src/store/memory/memory-storage.js';
import type { Scope } from '../src/store/task-key.js';
import type { LogRecord } from '../src/task/log-record.js';
import type { StreamItem } from '../src/task/stream-item.js';
import { silentLogger } from '../src/telemetry/logger.js';
import { CountingIds } from './counting-ids.js';
import type { Command } from './engine-commands.js';
import type { WakeupFate } from './faulty-wakeups.js';
import { ManualClock } from './manual-clock.js';
import { ScheduledStorage } from './scheduled-storage.js';
import { runScript } from './scripted-agent.js';

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
class Process {
  dead = false;
  closing = false;
  closed = false;
  /** The places of turns. No world runs as many turns. */
  readonly turnPlaces = new KeyedPlaces({ perKey: 1_000, total: 1_000 });
  readonly handler: DefaultRequestHandler;

  constructor(make: (process: Process) => DefaultRequestHandler) {
    this.handler = make(this);
  }
}

export interface Sender {
  readonly process: Process;
  settled: boolean;
}

export const SCOPE: Scope = { agent: 'a', tenant: '', owner: 'ann' };
const LONG = 40;
const PROCESSES = 3;
/** Longer than a lease, the next claim and the next look at watched tasks together. */
const QUIET_MS = 60_000;

/** One world: a storage, its processes, and callers that send, cancel, watch, stall and leave. */
export class World {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStorage({ clock: this.clock });
  readonly storage: ScheduledStorage;
  readonly readers: Reader[] = [];
  readonly senders: Sender[] = [];
  /** The turns of agents that run, by task. */
  readonly executing = new Map<string, { readonly context: RequestContext; readonly process: Process }>();
  overlaps = 0;
  /** Agents that began in a closed process. */
  lateStarts = 0;
  /** The fate of wake-ups between processes. */
  #wakeups: WakeupFate = 'deliver';
  #generation = 0;
  /** The processes that take calls; one at least. */
  #processes: Process[] = [];
  /** All that have not been killed. */
  #alive: Process[] = [];
  readonly #shared: boolean;
  readonly #agent: Pick<AgentExecutor, 'replies' | 'resumable'>;

  constructor(replies: 'task' | 'either', resumable: boolean, commands: readonly Command[]) {
    // Only a shared storage has other processes. They find unfinished turns when a lease ends.
    this.#shared = commands.some((each) => each.do === 'restart' || each.do === 'close' || each.do === 'join');
    this.storage = new ScheduledStorage(this.memory, this.#shared, () => this.#wakeups);
    this.#agent = { replies, resumable };
    const first = this.#boot();
    if (this.#shared) this.#start(first);
  }

  #boot(): Process {
    this.#generation += 1;
    const generation = this.#generation;
    const booted = new Process(
      (process) =>
        new DefaultRequestHandler({
          agent: 'a',
          executor: { ...this.#agent, execute: (context, events) => this.#run(process, context, events) },
          storage: this.storage.view(process),
          turnPlaces: process.turnPlaces,
          clock: this.clock,
          ids: new CountingIds(`g${generation}-`),
          logger: silentLogger,
          limits: {
            waitingMessages: 2,
            bufferEvents: 4,
            readerBufferBytes: 600,
            turnDeadlineMs: 60_000,
            waitingExpiryMs: 120_000,
            expiryCheckMs: 1e9,
          },
        }),
    );
    this.#processes.push(booted);
    this.#alive.push(booted);
    return booted;
  }

  /** One of the processes that take calls. */
  #on(pick: number): Process {
    const process = this.#processes[pick % this.#processes.length];
    if (process === undefined) throw new Error('No process takes calls');
    return process;
  }

  /** Running turns in processes that were not killed. */
  get runningTurns(): number {
    return this.#alive.reduce((sum, { handler }) => sum + handler.load.runningTurns, 0);
  }

  /** Places of turns that are taken in these processes, in all and by caller. */
  get takenPlaces(): number {
    return this.#alive.reduce((sum, { turnPlaces }) => sum + turnPlaces.total + turnPlaces.keys, 0);
  }

  /** Tasks that are watched in these processes. */
  get watchedTasks(): number {
    return this.#alive.reduce((sum, { handler }) => sum + handler.load.watchedTasks, 0);
  }

  async #run(process: Process, context: RequestContext, events: EventQueue): Promise<void> {
    if (process.closed) this.lateStarts += 1;
    // An agent that ignores its signal may still run when the next turn begins. An agent that was not told to stop may
    // not.
    const before = this.executing.get(context.taskId);
    if (before && !before.context.signal.aborted) this.overlaps += 1;
    this.executing.set(context.taskId, { context, process });
    try {
      await runScript({ context, events, clock: this.clock });
    } finally {
      if (this.executing.get(context.taskId)?.context === context) this.executing.delete(context.taskId);
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

  #watch(process: Process, stream: AsyncIterable<StreamItem>, of: Reader['of']): void {
    const iterator = stream[Symbol.asyncIterator]();
    let wake: (() => void) | undefined;
    const reader: Reader = {
      items: [],
      process,
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
  }

  #sent(process: Process, promise: Promise<unknown>): void {
    const sender: Sender = { process, settled: false };
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
        const process = this.#on(command.on);
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
        if (command.do === 'send') this.#sent(process, process.handler.sendMessage(request, this.call()));
        else this.#watch(process, process.handler.sendStreamingMessage(request, this.call()), 'message');
        break;
      }
      case 'cancel': {
        const process = this.#on(command.on);
        const id = await this.taskAt(command.task);
        if (id) this.#sent(process, process.handler.cancelTask({ id, metadata: { by: 'test' } }, this.call()));
        break;
      }
      case 'subscribe':
      case 'resume': {
        const process = this.#on(command.on);
        const id = await this.taskAt(command.task);
        const from = command.do === 'resume' ? { lastEventId: String(command.task) } : {};
        if (id) this.#watch(process, process.handler.subscribeToTask({ id }, this.call(from)), 'task');
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
      case 'join':
        if (this.#processes.length < PROCESSES) this.#start(this.#boot());
        break;
      case 'wakeups':
        this.#wakeups = command.fate;
        this.storage.releaseWakeups();
        break;
      case 'restart':
        await this.#restart(this.#on(command.on));
        break;
      case 'close':
        this.#close(this.#on(command.on), command.graceMs);
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

  /** A process is killed; another one takes its place. */
  async #restart(killed: Process): Promise<void> {
    killed.dead = true;
    // Settles all requests of the dead process before other processes look at its leases.
    await this.drain();
    this.#alive = this.#alive.filter((process) => process !== killed);
    this.#processes = this.#processes.filter((process) => process !== killed);
    for (const [id, { process }] of this.executing) if (process === killed) this.executing.delete(id);
    const { handler } = this.#boot();
    await this.clock.advance(15_001);
    const started = handler.start();
    await this.drain();
    await started;
  }

  /** Shuts the process down while everything else goes on. Another one replaces it after that. */
  #close(process: Process, graceMs: number): void {
    if (process.closing) return;
    process.closing = true;
    void process.handler.close({ graceMs }).then(() => {
      process.closed = true;
      if (process.dead) return;
      // Its storage calls have run before the next process looks at its tasks.
      this.storage.settle(process);
      this.#processes = this.#processes.filter((each) => each !== process);
      this.#start(this.#boot());
    });
  }

  /** Starts an engine as its host does, and retries while the storage fails. */
  #start(process: Process): void {
    process.handler.start().catch(() => this.clock.after(1_000, () => this.#start(process)));
  }

  /** Lets every reader read on, and advances time until nothing is left to do. */
  async finish(): Promise<void> {
    for (const reader of this.readers) {
      reader.paused = false;
      reader.pull();
    }
    // Answers come well before the leases end that they bring.
    const step = this.#shared ? 4_000 : 20_000;
    let quiet = 0;
    for (let passed = 0; passed < 800_000 && quiet < QUIET_MS; passed += step) {
      await this.drain();
      const isBusy = this.runningTurns > 0 || this.senders.some(({ process, settled }) => !process.dead && !settled);
      quiet = isBusy ? 0 : quiet + step;
      await this.clock.advance(step);
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
