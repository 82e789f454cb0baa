import {
  A2AError,
  type Client,
  ConnectionError,
  connect,
  type TaskStream,
} from '../../../packages/parley/src/exports/client.js';
import type { SendMessageResponse } from '../../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import { isTerminal } from '../../../packages/parley/src/model/task-state.js';
import type { Random } from '../../../packages/parley/test/random.js';
import { monotonic, pause } from './monotonic.js';
import type { CallFacts, RecordedCall, Recorder } from './recorder.js';

/** Time limit of a call, in ms. No fault lasts that long. */
const CALL_MS = 120_000;
const RETRY_MS = 200;
/** Number of tasks that clients remember, to read them again. */
const KNOWN = 200;
const AGENTS = ['/steady', '/fragile', '/either'] as const;
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

type AgentPath = (typeof AGENTS)[number];

/** The parts of a load. */
export interface LoadOptions {
  readonly url: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly recorder: Recorder;
  readonly random: Random;
  readonly webhook: string;
  /** Longest pause of a client between two scenarios. */
  readonly thinkMs: number;
}

interface Sending {
  readonly agent: AgentPath;
  readonly text: string;
  readonly taskId?: string;
  readonly messageId?: string;
  readonly webhook?: string;
}

/**
 * Clients that use all operations in both bindings, and record everything that they receive. They repeat calls
 * after transient failures. Every message has its own id.
 */
export class Load {
  readonly #options: LoadOptions;
  readonly #clients: readonly { readonly agent: AgentPath; readonly client: Client }[];
  readonly #known: { readonly agent: AgentPath; readonly taskId: string }[] = [];
  readonly #scenarios: readonly (() => Promise<unknown>)[];
  #messages = 0;
  #stopped = false;

  private constructor(options: LoadOptions, clients: Load['clients']) {
    this.#options = options;
    this.#clients = clients;
    this.#scenarios = [
      () => this.#send({ agent: '/steady', text: 'quick' }),
      () => this.#stream({ agent: '/steady', text: this.#chunks() }),
      () => this.#stream({ agent: '/steady', text: this.#chunks('careful') }),
      () => this.#stream({ agent: '/fragile', text: this.#chunks() }),
      () => this.#stream({ agent: '/either', text: this.#chunks() }),
      () => this.#watched(),
      () => this.#conversation(),
      () => this.#queued(),
      () => this.#canceled(this.#random.below(400)),
      () => this.#canceled(0),
      () => this.#duplicates('reply 100'),
      () => this.#duplicates('quick'),
      () => this.#pushed(),
      () => this.#list(),
      () => this.#get(),
      () => this.#get(),
    ];
  }

  get clients(): readonly { readonly agent: AgentPath; readonly client: Client }[] {
    return this.#clients;
  }

  static async open(options: LoadOptions): Promise<Load> {
    const clients = await Promise.all(
      AGENTS.flatMap((agent) =>
        BINDINGS.map(async (binding) => ({
          agent,
          client: await connect(`${options.url}${agent}`, {
            binding,
            version: '1.0',
            fetch: options.fetch,
            retry: { attempts: 1_000, firstMs: 50, longestMs: 10_000, mayRepeat: true },
            resume: { attempts: 1_000, firstMs: 50, longestMs: 1_000, silenceMs: 20_000 },
          }),
        })),
      ),
    );
    return new Load(options, clients);
  }

  /** Runs `clients` clients until the load is stopped and their last scenarios have ended. */
  async run(clients: number): Promise<void> {
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (!this.#stopped) {
          await this.#random.pick(this.#scenarios)();
          await pause(this.#random.below(this.#options.thinkMs));
        }
      }),
    );
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Starts tasks that run until they are canceled, and cancels each as soon as it is known. */
  async cancelAtOnce(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#canceled(0)));
  }

  /** Returns the number of tasks of all agents in a state, as read by a client. */
  async countOf(state: Task['status']['state']): Promise<number> {
    const counts = await Promise.all(
      AGENTS.map(async (agent) => (await this.#clientOf(agent).listTasks({ status: state, pageSize: 1 })).totalSize),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  get #random(): Random {
    return this.#options.random;
  }

  #clientOf(agent: AgentPath): Client {
    const fitting = this.#clients.filter((one) => one.agent === agent);
    return this.#random.pick(fitting).client;
  }

  #chunks(kind = 'stream'): string {
    return `${kind} ${2 + this.#random.below(16)} ${this.#random.below(120)}`;
  }

  #input({ text, taskId, messageId = this.#messageId(), webhook }: Sending, returnImmediately = false) {
    const configuration = {
      ...(returnImmediately && { returnImmediately }),
      ...(webhook !== undefined && { taskPushNotificationConfig: { id: `with-${messageId}`, url: webhook } }),
    };
    return {
      message: { messageId, parts: [{ text }], ...(taskId !== undefined && { taskId }) },
      ...(Object.keys(configuration).length > 0 && { configuration }),
    };
  }

  #messageId(): string {
    this.#messages += 1;
    return `m${this.#messages}`;
  }

  async #send(sending: Sending, returnImmediately = false): Promise<SendMessageResponse | undefined> {
    const input = this.#input(sending, returnImmediately);
    const { agent, taskId } = sending;
    const facts = { operation: 'send', agent, messageId: input.message.messageId, ...(taskId && { taskId }) } as const;
    return this.#unary(
      facts,
      (client, options) => client.sendMessage(input, options),
      (answer, call) => {
        if (answer.message !== undefined) return call.reply(answer.message);
        call.task(answer.task);
        this.#learn(agent, answer.task.id);
      },
    );
  }

  async #stream(sending: Sending): Promise<RecordedCall> {
    const input = this.#input(sending);
    const { agent, taskId } = sending;
    const facts = {
      operation: 'stream',
      agent,
      messageId: input.message.messageId,
      ...(taskId && { taskId }),
    } as const;
    const call = this.#options.recorder.begin(facts);
    await this.#consume(this.#clientOf(agent).sendStreamingMessage(input, { timeoutMs: CALL_MS }), call);
    return call;
  }

  async #subscribe(
    agent: AgentPath,
    taskId: string,
    { after, leaveAfter }: { after?: number; leaveAfter?: number } = {},
  ) {
    const call = this.#options.recorder.begin({
      operation: 'subscribe',
      agent,
      taskId,
      ...(after !== undefined && { after }),
    });
    const lastEventId = after === undefined ? {} : { lastEventId: String(after) };
    const stream = this.#clientOf(agent).subscribeToTask(taskId, { timeoutMs: CALL_MS, ...lastEventId });
    await this.#consume(stream, call, leaveAfter);
    return call;
  }

  async #consume(stream: TaskStream, call: RecordedCall, leaveAfter?: number): Promise<void> {
    try {
      for await (const event of stream) {
        call.event(event, stream.lastEventId);
        if (call.shown.length === leaveAfter) return call.end('left');
      }
      call.end('answered');
    } catch (error) {
      call.end(isPassing(error) ? 'unknown' : 'refused', error);
    }
    if (call.taskId !== undefined) this.#learn(call.agent as AgentPath, call.taskId);
  }

  /** Makes a call with one answer, repeated after transient failures. */
  async #unary<Answer>(
    facts: CallFacts & { readonly agent: AgentPath },
    run: (client: Client, options: { timeoutMs: number }) => Promise<Answer>,
    show: (answer: Answer, call: RecordedCall) => void,
  ): Promise<Answer | undefined> {
    const call = this.#options.recorder.begin(facts);
    for (;;) {
      try {
        const answer = await run(this.#clientOf(facts.agent), { timeoutMs: CALL_MS });
        show(answer, call);
        call.end('answered');
        return answer;
      } catch (error) {
        const isOver = monotonic() - call.startedAt > CALL_MS;
        if (!isPassing(error) || isOver) {
          call.end(isOver ? 'unknown' : 'refused', error);
          return undefined;
        }
        await pause(RETRY_MS);
      }
    }
  }

  #learn(agent: AgentPath, taskId: string): void {
    this.#known.push({ agent, taskId });
    if (this.#known.length > KNOWN) this.#known.shift();
  }

  /** Sends without waiting. Resolves to the id of the new task. */
  async #started(sending: Sending): Promise<string | undefined> {
    const answer = await this.#send(sending, true);
    return answer !== undefined && answer.task !== undefined ? answer.task.id : undefined;
  }

  /** Subscribes to a task several times. One subscription is left, and resumed after its last event. */
  async #watched(): Promise<void> {
    const agent = '/steady';
    const taskId = await this.#started({ agent, text: this.#chunks() });
    if (taskId === undefined) return;
    const resumeStream = async () => {
      const first = await this.#subscribe(agent, taskId, { leaveAfter: 1 + this.#random.below(4) });
      const last = first.shown.at(-1);
      if (first.outcome !== 'left' || last === undefined || !('seq' in last)) return;
      await this.#subscribe(agent, taskId, { after: last.seq });
    };
    await Promise.all([this.#subscribe(agent, taskId), resumeStream(), resumeStream()]);
    await this.#subscribe(agent, taskId, { after: 0 });
  }

  async #conversation(): Promise<void> {
    const agent = this.#random.pick(['/steady', '/fragile', '/either'] as const);
    const answer = await this.#send({ agent, text: `ask 1 ${this.#random.below(100)}` });
    if (answer === undefined || answer.task === undefined || isTerminal(answer.task.status.state)) return;
    const reply = { agent, text: 'answer', taskId: answer.task.id };
    await (this.#random.oneIn(2) ? this.#send(reply) : this.#stream(reply));
  }

  /** Sends a second message while the first turn runs. */
  async #queued(): Promise<void> {
    const agent = '/steady';
    const taskId = await this.#started({ agent, text: `ask 1 ${200 + this.#random.below(400)}` });
    if (taskId === undefined) return;
    await (this.#random.oneIn(2)
      ? this.#send({ agent, text: 'answer', taskId })
      : this.#stream({ agent, text: 'answer', taskId }));
  }

  async #canceled(afterMs: number): Promise<void> {
    const agent = this.#random.pick(['/steady', '/fragile', '/either'] as const);
    const text = this.#random.oneIn(2) && agent !== '/either' ? 'idle' : `careful 200 50`;
    const taskId = await this.#started({ agent, text });
    if (taskId === undefined) return;
    if (afterMs > 0) await pause(afterMs);
    await this.#unary(
      { operation: 'cancel', agent, taskId },
      (client, options) => client.cancelTask(taskId, options),
      (task, call) => call.task(task),
    );
  }

  /** Sends the same message several times concurrently, to random replicas. */
  async #duplicates(text: string): Promise<void> {
    const sending = { agent: text === 'quick' ? '/steady' : '/either', text, messageId: this.#messageId() } as const;
    await Promise.all([
      this.#send(sending),
      this.#send(sending),
      ...(this.#random.oneIn(2) ? [this.#stream(sending)] : []),
    ]);
  }

  async #pushed(): Promise<void> {
    const agent = '/steady';
    const { webhook } = this.#options;
    const taskId = await this.#started({ agent, text: this.#chunks(), webhook });
    if (taskId === undefined) return;
    const configId = `later-${this.#messageId()}`;
    const put = await this.#unary(
      { operation: 'config', agent, taskId, configId },
      (client, options) => client.createTaskPushNotificationConfig({ taskId, id: configId, url: webhook }, options),
      () => {},
    );
    if (put === undefined) return;
    await this.#unary(
      { operation: 'configs', agent, taskId, configId },
      async (client, options) => {
        const { configs } = await client.listTaskPushNotificationConfigs({ taskId }, options);
        const got = await client.getTaskPushNotificationConfig({ taskId, id: configId }, options);
        if (configs.length < 2 || got.url !== webhook)
          throw new Error(`the configurations are ${JSON.stringify(configs)}`);
      },
      () => {},
    );
    if (this.#random.oneIn(2)) return;
    await this.#unary(
      { operation: 'unconfig', agent, taskId, configId },
      (client, options) => client.deleteTaskPushNotificationConfig({ taskId, id: configId }, options),
      () => {},
    );
  }

  async #list(): Promise<void> {
    const agent = this.#random.pick(AGENTS);
    await this.#unary(
      { operation: 'list', agent },
      (client, options) => client.listTasks({ pageSize: 20 }, options),
      ({ tasks }, call) => call.recordList(tasks),
    );
  }

  async #get(): Promise<void> {
    const known = this.#known.at(-1 - this.#random.below(Math.max(1, Math.min(20, this.#known.length))));
    if (known === undefined) return;
    const { agent, taskId } = known;
    await this.#unary(
      { operation: 'get', agent, taskId },
      (client, options) => client.getTask(taskId, options),
      (task, call) => call.task(task),
    );
  }
}

/** True if the same call may succeed later. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || !(error instanceof A2AError)) return true;
  return error.code === 'UNAVAILABLE' || error.code === 'RESOURCE_EXHAUSTED';
}
