import type { JsonValue, StreamResponse, Task } from 'parley-a2a';
import type { SendInput } from 'parley-a2a/client';
import { callerClock, DEFAULT_ENGINE_LIMITS, ignoreRejection, textOf } from 'parley-a2a/kit';
import { type AgentExecutor, MemoryStorage, type TaskStorage, type User } from 'parley-a2a/server';
import type { TaskKey } from 'parley-a2a/storage';
import { CountingIds } from './counting-ids.js';
import {
  assertSameOutcome,
  assertWholeLog,
  type CrashPoint,
  crashFailure,
  isReached,
  pointText,
  stateText,
} from './crash-rules.js';
import { describeEvent, isFinal, isWaiting } from './event-view.js';
import { type Commit, mortalStorage } from './mortal-storage.js';
import { runAgent, type TestAgentOptions, whileTimePasses } from './test-agent.js';
import { TestClock } from './test-ports.js';
import { type EngineAgent, startProcess, type TestProcess, wrapAgent } from './test-process.js';
import { DEFAULT_WAIT_MS, waitForOn } from './waits.js';

/** The options of `crashAndResume`. */
export type CrashOptions = Omit<TestAgentOptions, 'storage' | 'ids'> & {
  /** The point at which the first process dies. Default: after the first checkpoint. */
  readonly at?: CrashPoint;
  /** Makes the agent of the second process, which then shares no memory with the first. Default: the same agent. */
  readonly restart?: () => EngineAgent;
  /**
   * True: the agent first runs without a crash, and the resumed task must have the same state and artifacts. Use false
   * if its answers differ from run to run. Default: true.
   */
  readonly compare?: boolean;
  /** Time limit of each attempt in ms of real time; default 5,000. */
  readonly timeoutMs?: number;
};

/** The two attempts of a turn. */
export interface CrashedRun {
  /** The events that the first process committed before it died. */
  readonly firstAttempt: readonly StreamResponse[];
  /** The events of the second process. */
  readonly secondAttempt: readonly StreamResponse[];
  /** The checkpoint that the second attempt found. */
  readonly checkpoint: JsonValue | undefined;
  /** The task at the end. */
  readonly task: Task;
  /** The text of its artifacts. */
  readonly text: string;
}

/**
 * Runs an agent in a simulated process that dies at a point, and again in a second process on the same storage. Code of
 * the first attempt that awaits its context or its events is never resumed; its signal aborts when its lease ends. No
 * event may be lost or doubled.
 * @throws ProtocolAssertionError if the point is never reached, the agent does not run again, or an event is lost or
 * doubled.
 */
export async function crashAndResume(
  agent: EngineAgent,
  input: SendInput,
  options: CrashOptions = {},
): Promise<CrashedRun> {
  const {
    at = 'checkpoint',
    restart = () => agent,
    compare = true,
    timeoutMs = DEFAULT_WAIT_MS,
    user,
    ...others
  } = options;
  const { clock = new TestClock(), ...server } = others;
  const undisturbed = compare
    ? await runAgent(restart(), input, { ...others, ...(user && { user }), clock, timeoutMs })
    : undefined;
  const shared = new MemoryStorage({ clock });
  const parts: CrashSetup = { options: server, user, shared, clock };
  const first = await CrashedProcess.start(parts, { agent, number: 1, at });
  await first.send(input);
  await first.until('the crash', () => first.isDead || first.isOver, timeoutMs);
  if (!first.isDead)
    throw crashFailure(
      `a crash ${pointText(at)}`,
      `the end of the turn: ${describeEvent(first.events.at(-1))}`,
      first.error,
    );
  if (first.isOver)
    throw crashFailure('a crash before the end of the turn', `one after ${describeEvent(first.events.at(-1))}`);
  const { key } = first;
  await clock.advance((server.limits?.leaseMs ?? DEFAULT_ENGINE_LIMITS.leaseMs) + 1);
  const second = await CrashedProcess.start(parts, { agent: restart(), number: 2, at: () => false });
  try {
    await second.until('the end of the second attempt', () => second.isOver, timeoutMs);
    const task = await second.client.getTask(key.id);
    if (second.attempts === 0) throw crashFailure('the agent to run again (resumable: true)', stateText(task));
    const { records } = await shared.records(key, 0, Number.MAX_SAFE_INTEGER);
    assertWholeLog(
      records.map(({ event }) => event),
      [first.events, second.events],
    );
    if (undisturbed?.task !== undefined) assertSameOutcome(task, undisturbed.task, second.error);
    const { events: firstAttempt, checkpoint } = first;
    return { firstAttempt, secondAttempt: second.events, checkpoint, task, text: textOf(task) };
  } finally {
    await whileTimePasses(clock, second.close());
  }
}

interface CrashSetup {
  readonly user: User | undefined;
  readonly options: Omit<TestAgentOptions, 'user' | 'clock' | 'ids' | 'storage'>;
  readonly shared: TaskStorage;
  readonly clock: TestClock;
}

interface ProcessOptions {
  readonly agent: EngineAgent;
  readonly number: number;
  readonly at: CrashPoint;
}

/** A simulated process that records its commits, and may die after one of them. */
class CrashedProcess {
  readonly events: StreamResponse[] = [];
  attempts = 0;
  checkpoint: JsonValue | undefined;
  readonly #clock: TestClock;
  readonly #at: CrashPoint;
  readonly #view: ReturnType<typeof mortalStorage>;
  #process: TestProcess | undefined;
  #key: TaskKey | undefined;
  #agentEvents = 0;

  private constructor({ shared, clock }: CrashSetup, at: CrashPoint) {
    this.#clock = clock;
    this.#at = at;
    this.#view = mortalStorage(shared, (commit) => this.#onCommit(commit));
  }

  static async start(parts: CrashSetup, { agent, number, at }: ProcessOptions): Promise<CrashedProcess> {
    const { options, user, clock } = parts;
    const own = new CrashedProcess(parts, at);
    const counted = wrapAgent(agent, (executor) => {
      const mortal = mortalAgent(executor, () => own.#view.isDead);
      const execute: typeof mortal.execute = (...turn) => {
        own.attempts += 1;
        return mortal.execute(...turn);
      };
      return { ...mortal, execute };
    });
    const ids = new CountingIds(`process-${number}`);
    const { storage } = own.#view;
    own.#process = await startProcess({
      subject: 'crashAndResume',
      agent: counted,
      options,
      user,
      storage,
      clock,
      ids,
    });
    return own;
  }

  get client(): TestProcess['client'] {
    if (this.#process === undefined) throw new Error('the process has not started');
    return this.#process.client;
  }

  get isDead(): boolean {
    return this.#view.isDead;
  }

  /** The error of the agent. */
  get error(): unknown {
    return this.#process?.errors.of(this.#key?.id);
  }

  /** True once the turn has ended. */
  get isOver(): boolean {
    const last = this.events.at(-1);
    return last !== undefined && (isFinal(last) || isWaiting(last));
  }

  get key(): TaskKey {
    if (this.#key === undefined) throw crashFailure('a task', 'a direct message');
    return this.#key;
  }

  /** Sends a message without waiting for an answer, because the process may die before. */
  async send(input: SendInput): Promise<void> {
    const message = typeof input === 'string' ? { message: input } : input;
    const configuration = { ...message.configuration, returnImmediately: true };
    this.client.sendMessage({ ...message, configuration }).catch(() => {});
    await this.#clock.settle();
  }

  until(what: string, predicate: () => boolean, timeoutMs: number): Promise<boolean> {
    return whileTimePasses(this.#clock, waitForOn(callerClock, predicate, { what, timeoutMs, intervalMs: 1 }));
  }

  async close(): Promise<void> {
    await this.#process?.close(0);
  }

  #onCommit({ key, events, checkpoint }: Commit): void {
    this.#key ??= key;
    this.events.push(...events);
    if (checkpoint !== undefined) this.checkpoint = checkpoint;
    if (this.attempts === 0) return;
    this.#agentEvents += events.length;
    const own = this.events.slice(this.events.length - this.#agentEvents);
    const reached = isReached(this.#at, { events: own, fresh: events.length, hasCheckpoint: checkpoint !== undefined });
    if (reached) this.#view.die();
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * Wraps an agent whose process may die. Each of its events is committed before the next one begins, so that the process
 * can die exactly between two events. After that, no call of its context or its events resolves.
 */
function mortalAgent(agent: AgentExecutor, isDead: () => boolean): AgentExecutor {
  const { replies, resumable } = agent;
  const inTurn = (call: 'execute' | 'cancel'): NonNullable<AgentExecutor['cancel']> => {
    return async (context, events) => {
      let last: Promise<unknown> = Promise.resolve();
      let pending = 0;
      const inOrder = (publish: () => unknown): Promise<unknown> => {
        const step = async (): Promise<unknown> => {
          if (isDead()) return never();
          const result = await publish();
          await events.flush();
          return result;
        };
        // The first of concurrent calls reaches the engine at once, because agents need not await their events.
        last = pending === 0 ? step() : last.then(step, step);
        pending += 1;
        const countSettled = (): void => {
          pending -= 1;
        };
        last.then(countSettled, countSettled);
        return last;
      };
      const own = {
        context: interceptCalls(context, isDead, (ask) => ask()),
        events: interceptCalls(events, isDead, inOrder),
      };
      await agent[call]?.(own.context, own.events);
      await last.catch(() => {});
      if (isDead()) await never();
    };
  };
  return {
    execute: inTurn('execute'),
    ...(agent.cancel !== undefined && { cancel: inTurn('cancel') }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
  };
}

/** A proxy of the object, whose methods resolve only while the process lives. */
function interceptCalls<T extends object>(
  object: T,
  isDead: () => boolean,
  around: (call: () => unknown) => unknown,
): T {
  return new Proxy(object, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isDead()) return never();
        const answer = around(() => Reflect.apply(member, target, args));
        if (!(answer instanceof Promise)) return answer;
        return ignoreRejection(answer.then((value) => (isDead() ? never() : value)));
      };
    },
  });
}
