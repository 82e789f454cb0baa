import type { Message, SendMessageResponse, StreamResponse, Task } from 'parley-a2a';
import type { CallOptions, Client, SendInput, TaskStream } from 'parley-a2a/client';
import { callerClock, textOf } from 'parley-a2a/kit';
import { type IdSource, MemoryStorage, type TaskStorage, type User } from 'parley-a2a/server';
import { agentErrorIn, noteError } from './agent-errors.js';
import { CountingIds } from './counting-ids.js';
import { EventCollector, TestClock } from './test-ports.js';
import { startProcess, type TestedAgent, type TestServerOptions } from './test-process.js';
import { waitOn } from './waits.js';

/** The pause between two checks of work that takes real time, in ms. */
const LOOK_MS = 2;

/** The options of a tested agent: those of its server, and what the test controls. */
export type TestAgentOptions = TestServerOptions & {
  /** The user of every call. Absent: as the authenticator of the agent decides. */
  readonly user?: User;
  /** The clock of the server. Pass the same one to an agent that waits. Default: a new one. */
  readonly clock?: TestClock;
  /** Ids of tasks, messages and artifacts. Default: sequential ids, the same in every run. */
  readonly ids?: IdSource;
};

/** An agent on the real engine, in this process, without a network. */
export interface TestAgent {
  /** A client of the agent, for all other operations. */
  readonly client: Client;
  readonly clock: TestClock;
  readonly storage: TaskStorage;
  /** Sends a message, and waits for the end of its turn. */
  send(input: SendInput, options?: CallOptions): Promise<SendMessageResponse>;
  /** Sends a message, and streams its turn. */
  stream(input: SendInput, options?: CallOptions): TaskStream;
  /** Sends a message, and collects the events of its turn. */
  collect(input: SendInput, options?: CallOptions): EventCollector;
  cancel(taskId: string): Promise<Task>;
  /** Advances the clock by ms, and waits until the test is idle. */
  advance(ms: number): Promise<void>;
  /** Waits until nothing happens any more without more time. */
  settle(): Promise<void>;
  /** Ends running turns at once, and the streams. */
  close(): Promise<void>;
}

/**
 * Serves an agent in this process, with tasks in memory and a clock that only the test advances. Close it at the end.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export async function testAgent(agent: TestedAgent, options: TestAgentOptions = {}): Promise<TestAgent> {
  const {
    user,
    clock = new TestClock(),
    ids = new CountingIds(),
    storage = new MemoryStorage({ clock }),
    ...server
  } = options;
  const ports = { storage, clock, ids };
  const started = await startProcess({ subject: 'testAgent', agent, options: server, user, ...ports });
  const { client, close, errors } = started;
  const stream = (input: SendInput, call?: CallOptions) => client.sendStreamingMessage(input, call);
  return {
    client,
    clock,
    storage,
    send: async (input, call) => {
      const answer = await client.sendMessage(input, call);
      if (answer.task !== undefined) noteError([answer.task], () => errors.of(answer.task.id));
      return answer;
    },
    stream,
    collect: (input, call) => {
      const turn = stream(input, call);
      const collector = new EventCollector(turn);
      noteError([collector.events], () => errors.of(turn.taskId));
      return collector;
    },
    cancel: (taskId) => client.cancelTask(taskId),
    advance: (ms) => clock.advance(ms),
    settle: () => clock.settle(),
    close: () => closeAdvancing(close(0), clock),
  };
}

/** The options of `runAgent`. */
export type RunAgentOptions = TestAgentOptions & {
  /** Time limit in ms of real time; default 5,000. */
  readonly timeoutMs?: number;
};

/** The turn of an agent. */
export interface AgentRun {
  readonly events: readonly StreamResponse[];
  /** The task at the end. Absent: the agent answered with a message. */
  readonly task: Task | undefined;
  /** The answer without a task. */
  readonly message: Message | undefined;
  /** The text of the answer. */
  readonly text: string;
  /**
   * The error that failed the task, with its stack: the agent threw it, or published an invalid event. Callers of an
   * agent never get it. Absent: there is none.
   */
  readonly error: unknown;
}

/**
 * Runs an agent on one message, and resolves at the end of its turn. Whenever the agent sleeps on the given clock, the
 * clock is advanced at once.
 * @throws WaitTimeoutError naming the last event, if the turn does not end in time.
 */
export async function runAgent(
  agent: TestedAgent,
  input: SendInput,
  { timeoutMs, ...options }: RunAgentOptions = {},
): Promise<AgentRun> {
  const tested = await testAgent(agent, options);
  try {
    const collector = tested.collect(input);
    const events = await whileTimePasses(
      tested.clock,
      collector.waitForEnd(timeoutMs === undefined ? {} : { timeoutMs }),
    );
    const [first] = events;
    const error = agentErrorIn([events]);
    if (first === undefined) return { events, task: undefined, message: undefined, text: '', error };
    if (first.message !== undefined) {
      return { events, task: undefined, message: first.message, text: textOf(first.message), error };
    }
    const id =
      first.task !== undefined
        ? first.task.id
        : first.statusUpdate !== undefined
          ? first.statusUpdate.taskId
          : first.artifactUpdate.taskId;
    const task = await tested.client.getTask(id);
    noteError([task, ...events], () => error);
    return { events, task, message: undefined, text: textOf(task), error };
  } finally {
    await tested.close();
  }
}

/** Advances the clock to the end of each sleep until a promise settles. */
export async function whileTimePasses<T>(clock: TestClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const noteSettled = () => {
    isSettled = true;
  };
  promise.then(noteSettled, noteSettled);
  await clock.settle();
  while (!isSettled) {
    const sleepMs = clock.nextSleepMs;
    // Other work, such as I/O of the agent, takes real time.
    await (sleepMs === undefined ? waitOn(callerClock, LOOK_MS) : clock.advance(sleepMs));
  }
  return promise;
}

/** Advances the clock by the time that the engine gives turns that do not stop. */
async function closeAdvancing(closing: Promise<void>, clock: TestClock): Promise<void> {
  let isClosed = false;
  const noteClosed = () => {
    isClosed = true;
  };
  closing.then(noteClosed, noteClosed);
  for (let round = 0; !isClosed && round < 60; round += 1) await clock.advance(round === 0 ? 0 : 1_000);
  return closing;
}
