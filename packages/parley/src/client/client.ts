import { STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
import { A2AError } from '../errors/a2a-error.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../model/push-notification-config.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { AskResult, SendMessageResponse, StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SubscribeToTaskRequest,
} from '../model/task-requests.js';
import { type CallOutcome, type Interceptor, interceptCall } from '../operations/interceptor.js';
import {
  OPERATIONS,
  type OperationName,
  type OperationTypes,
  type StreamingOperationName,
  type UnaryOperationName,
} from '../operations/operations.js';
import { isLegacy } from '../operations/versions.js';
import { type AgentConnection, closedError } from './agent-connection.js';
import { callDeadline, eitherSignal, type TimeLimit } from './call-deadline.js';
import { type CallDefaults, type CallOptions, type ClientCallContext, clientCallContext } from './call-options.js';
import type { ClientRuntime } from './client-runtime.js';
import type { ClientBinding, EventBatches, ReceivedEvent } from './client-transport.js';
import type { PlainFetch } from './credentialed-fetch.js';
import type { OperationCall, OperationCalls } from './operation-calls.js';
import { type SendInput, sendRequestOf } from './outgoing-message.js';
import { requireMembers } from './request-members.js';
import { type ResumeOptions, TaskStream } from './task-stream.js';
import { isWaitOver, readTask, type WaitOptions, waitForTask } from './task-waiting.js';
import { withText } from './text-of.js';

/** Default of `ResumeOptions.attempts`. */
export const RESUME_ATTEMPTS = 10;

/** A request without members that the client adds. */
type WithoutTenant<Request> = Omit<Request, 'tenant'>;

type WantedStream = Pick<OperationCall<StreamingOperationName>, 'operation' | 'request'> & {
  readonly taskId: string | undefined;
};

/** A method for each operation, so that an operation without a method does not compile. */
type OperationMethods = {
  readonly [Name in OperationName]: (
    ...call: never[]
  ) => Name extends StreamingOperationName ? TaskStream : Promise<OperationTypes[Name]['response']>;
};

/** The options of a `Client`. */
export interface ClientOptions {
  readonly card: AgentCard;
  readonly connection: AgentConnection;
  /** Makes the calls. `card` returns the latest card. */
  readonly calls: (card: () => AgentCard) => OperationCalls;
  readonly interceptors: readonly Interceptor<ClientCallContext>[];
  readonly defaults: CallDefaults;
  /** The further binding that speaks an interface. Undefined for JSON-RPC and HTTP+JSON. */
  readonly bindingOf: (agentInterface: AgentInterface) => ClientBinding | undefined;
  /** Sends requests beside the protocol. */
  readonly send: PlainFetch;
  readonly resume: ResumeOptions;
  readonly mayRepeat: boolean;
  readonly runtime: ClientRuntime;
}

/**
 * Calls an agent: every operation of the protocol, in any binding and version. Methods throw `A2AError` for errors of
 * the agent and `ConnectionError` if there is no answer. If a signal ends a call, they throw its reason. A client of
 * JSON-RPC or HTTP+JSON keeps no connection between calls. Other bindings keep one until `close`, or until it is idle.
 */
export class Client implements OperationMethods {
  readonly #parts: ClientOptions;
  readonly #calls: OperationCalls;
  #card: AgentCard;
  /** The ends of streams that are open, or wait for their next connection. */
  readonly #streams = new Set<AbortController>();

  constructor(parts: ClientOptions) {
    this.#parts = parts;
    this.#card = parts.card;
    this.#calls = parts.calls(() => this.#card);
  }

  /** The agent's card: the public one, or the extended one after `getExtendedAgentCard` (Spec §3.1.11). */
  get card(): AgentCard {
    return this.#card;
  }

  /** The interface of the next call. */
  get agentInterface(): AgentInterface {
    return this.#parts.connection.agentInterface;
  }

  /**
   * Sends a message and waits for the answer (Spec §3.1.1): a message, or a task that has ended or waits for the
   * caller.
   */
  async sendMessage(input: SendInput, options: CallOptions = {}): Promise<SendMessageResponse> {
    return this.#unary('sendMessage', this.#sendRequest(input, options), options);
  }

  /**
   * Sends a message and streams its turn (Spec §3.1.2). The request goes out when the first event is read. An agent
   * without streaming gets SendMessage, and its answer is the only event.
   */
  sendStreamingMessage(input: SendInput, options: CallOptions = {}): TaskStream {
    const request = this.#sendRequest(input, options);
    return this.#stream({ operation: 'sendStreamingMessage', request, taskId: request.message.taskId }, options);
  }

  /**
   * Sends a message and waits until its task has ended or waits for the caller. Survives lost connections. Returns the
   * task, or the message that is the agent's answer, and its text.
   */
  async ask(input: SendInput, options: CallOptions & WaitOptions = {}): Promise<AskResult> {
    return this.#withinLimit(options, async (limited) => {
      const answer = await this.#firstAnswer(input, limited);
      if (answer.task === undefined || isWaitOver(answer.task.status.state, options.until)) return withText(answer);
      return withText({ task: await this.waitFor(answer.task.id, limited) });
    });
  }

  /** Waits until a task has ended or waits for the caller. Reads its stream, or polls with growing pauses. */
  waitFor(id: string, options: CallOptions & WaitOptions = {}): Promise<Task> {
    return this.#withinLimit(options, (limited) =>
      waitForTask({
        id,
        options,
        subscribe: this.#hasStreams ? () => this.subscribeToTask(id, limited) : undefined,
        task: () => this.getTask(id, limited),
        signal: limited.signal,
        runtime: this.#parts.runtime,
      }),
    );
  }

  /** Gets a task (Spec §3.1.3). */
  async getTask(request: string | WithoutTenant<GetTaskRequest>, options: CallOptions = {}): Promise<Task> {
    return this.#callChecked('getTask', withId(request), options);
  }

  /** Lists tasks, newest first (Spec §3.1.4). Pass `nextPageToken` to get the next page, until it is empty. */
  async listTasks(
    request: WithoutTenant<ListTasksRequest> = {},
    options: CallOptions = {},
  ): Promise<ListTasksResponse> {
    return this.#callChecked('listTasks', request, options);
  }

  /** Cancels a task (Spec §3.1.5). Returns the task if it is canceled already. */
  async cancelTask(request: string | WithoutTenant<CancelTaskRequest>, options: CallOptions = {}): Promise<Task> {
    const { metadata } = options;
    const wanted = withId(request);
    try {
      return await this.#callChecked('cancelTask', metadata === undefined ? wanted : { ...wanted, metadata }, options);
    } catch (error) {
      if (!(error instanceof A2AError) || error.code !== 'TASK_NOT_CANCELABLE') throw error;
      const task = await this.getTask(wanted.id, options);
      if (task.status.state !== 'TASK_STATE_CANCELED') throw error;
      return task;
    }
  }

  /**
   * Streams a task until it has ended, beginning with a snapshot (Spec §3.1.6). With `lastEventId`, an agent that
   * resumes streams begins after that event instead.
   */
  subscribeToTask(
    request: string | WithoutTenant<SubscribeToTaskRequest>,
    options: CallOptions & { readonly lastEventId?: string } = {},
  ): TaskStream {
    const wanted = withId(request);
    requireMembers('SubscribeToTaskRequest', wanted);
    return this.#stream({ operation: 'subscribeToTask', request: wanted, taskId: wanted.id }, options);
  }

  /** Registers a webhook for a task (Spec §3.1.7). */
  async createTaskPushNotificationConfig(
    request: WithoutTenant<TaskPushNotificationConfig>,
    options: CallOptions = {},
  ): Promise<TaskPushNotificationConfig> {
    return this.#callChecked('createTaskPushNotificationConfig', request, options);
  }

  /** Gets a webhook of a task (Spec §3.1.8). */
  async getTaskPushNotificationConfig(
    request: WithoutTenant<GetTaskPushNotificationConfigRequest>,
    options: CallOptions = {},
  ): Promise<TaskPushNotificationConfig> {
    return this.#callChecked('getTaskPushNotificationConfig', request, options);
  }

  /** Lists the webhooks of a task (Spec §3.1.9). */
  async listTaskPushNotificationConfigs(
    request: WithoutTenant<ListTaskPushNotificationConfigsRequest>,
    options: CallOptions = {},
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#callChecked('listTaskPushNotificationConfigs', request, options);
  }

  /** Deletes a webhook of a task. It is no error if there is none (Spec §3.1.10). */
  async deleteTaskPushNotificationConfig(
    request: WithoutTenant<DeleteTaskPushNotificationConfigRequest>,
    options: CallOptions = {},
  ): Promise<undefined> {
    return this.#callChecked('deleteTaskPushNotificationConfig', request, options);
  }

  /** Gets the card for authenticated callers (Spec §3.1.11). It replaces the card of this client. */
  async getExtendedAgentCard(options: CallOptions = {}): Promise<AgentCard> {
    this.#card = await this.#unary('getExtendedAgentCard', {}, options);
    return this.#card;
  }

  /**
   * Sends an HTTP request beside the protocol, such as for a file. Adds the headers and credentials of the client.
   * Credentials go to trusted origins only.
   */
  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const { clientFetch } = await import('./client-fetch.js');
    return clientFetch({ ...this.#parts, guard: this.#calls.guard })(url, init);
  }

  /**
   * Ends the streams of the client, the connections that it keeps, and the calls on them. The tasks go on. Streams and
   * later calls throw a ConnectionError whose `isFinal` is true.
   */
  close(): void {
    this.#parts.connection.close();
    for (const stream of this.#streams) stream.abort(closedError());
  }

  /** True after `close`. */
  get isClosed(): boolean {
    return this.#parts.connection.isClosed;
  }

  get #hasStreams(): boolean {
    return this.#card.capabilities.streaming === true;
  }

  #sendRequest(input: SendInput, options: CallOptions): SendMessageRequest {
    return sendRequestOf(input, this.#parts.runtime.ids, options.metadata);
  }

  /** Uses a stream if the agent has streaming, because a stream survives a lost connection. */
  async #firstAnswer(input: SendInput, options: CallOptions & WaitOptions): Promise<SendMessageResponse> {
    if (!this.#hasStreams) return this.sendMessage(input, options);
    const stream = this.sendStreamingMessage(input, options);
    for await (const event of stream) {
      if (event.message !== undefined) return event;
      // The agent may keep the stream open until authorization is given (Spec §7.6.1).
      if (stream.isWaiting && stream.state !== undefined && isWaitOver(stream.state, options.until)) break;
    }
    const { taskId } = stream;
    if (taskId === undefined)
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent answered with no task and no message');
    const historyLength = typeof input === 'string' ? undefined : input.configuration?.historyLength;
    const request = { id: taskId, ...(historyLength !== undefined && { historyLength }) };
    const task = () => this.getTask(request, options);
    return {
      task: await readTask({ id: taskId, options, task, signal: options.signal, runtime: this.#parts.runtime }),
    };
  }

  /** Runs calls under one time limit. */
  async #withinLimit<T>(options: CallOptions, run: (limited: CallOptions) => Promise<T>): Promise<T> {
    const deadline = callDeadline(this.#parts.runtime.clock, options);
    const { timeoutMs: _, signal: __, ...others } = options;
    try {
      return await run(deadline.signal === undefined ? others : { ...others, signal: deadline.signal });
    } finally {
      deadline.release();
    }
  }

  /** Calls an operation with a request whose members the application named. */
  #callChecked<Name extends Exclude<UnaryOperationName, 'sendMessage' | 'getExtendedAgentCard'>>(
    operation: Name,
    request: OperationTypes[Name]['request'],
    options: CallOptions,
  ): Promise<OperationTypes[Name]['response']> {
    requireMembers(OPERATIONS[operation].request, request);
    return this.#unary(operation, request, options);
  }

  #unary<Name extends UnaryOperationName>(
    operation: Name,
    request: OperationTypes[Name]['request'],
    options: CallOptions,
  ): Promise<OperationTypes[Name]['response']> {
    const context = clientCallContext(options, this.#parts.defaults);
    if (options.timeoutMs === undefined) return this.#answer({ operation, request, context });
    const { signal, timeLimit, release } = callDeadline(this.#parts.runtime.clock, options);
    return this.#answer({ operation, request, context: { ...context, signal, timeLimit } }).finally(release);
  }

  /** Makes a call through the interceptors. */
  #answer<Name extends UnaryOperationName>(call: OperationCall<Name>): Promise<OperationTypes[Name]['response']> {
    const { interceptors } = this.#parts;
    if (interceptors.length === 0) return this.#calls.unary(call);
    const outcome = interceptCall<ClientCallContext, StreamResponse>(
      interceptors,
      (last) => this.#calls.unary(last as OperationCall<Name>) as CallOutcome,
    )(call);
    return outcome as Promise<OperationTypes[Name]['response']>;
  }

  /** Opens a stream through the interceptors. Their changes to the call apply to every connection of the stream. */
  #stream(
    { operation, request, taskId }: WantedStream,
    options: CallOptions & { readonly lastEventId?: string },
  ): TaskStream {
    const { runtime, resume, mayRepeat, interceptors, defaults } = this.#parts;
    const { lastEventId } = options;
    const isMessage = operation === 'sendStreamingMessage';
    let call: OperationCall<StreamingOperationName> = {
      operation,
      request,
      context: clientCallContext(options, defaults),
    };
    const resumable = this.#declares(STREAM_RESUME_EXTENSION);
    const { isIdempotent } = this.#calls;
    // Agents that declare either extension keep every message in the history.
    const isInDoubt = isMessage && taskId !== undefined && (resumable || isIdempotent);
    let timeLimit: TimeLimit | undefined;
    const within = (signal: AbortSignal | undefined, seen?: string): ClientCallContext => ({
      ...call.context,
      signal,
      timeLimit,
      ...(seen !== undefined && { lastEventId: seen }),
    });
    return new TaskStream({
      span: isMessage ? 'turn' : 'task',
      taskId,
      lastEventId,
      resumable,
      keepsAlive: resumable && this.#binding?.findsLostConnections !== true,
      hasTaken: isInDoubt ? (task) => hasMessage(task, call.request) : undefined,
      repeatable: isMessage && (mayRepeat || isIdempotent),
      attempts: resume.attempts ?? RESUME_ATTEMPTS,
      options: resume,
      runtime,
      deadline: () => {
        const closing = new AbortController();
        const signal = options.signal === undefined ? closing.signal : eitherSignal(options.signal, closing.signal);
        const deadline = callDeadline(runtime.clock, { ...options, signal });
        timeLimit = deadline.timeLimit;
        this.#streams.add(closing);
        const release = (): void => {
          this.#streams.delete(closing);
          deadline.release();
        };
        return { ...deadline, release };
      },
      around: (events) => {
        if (interceptors.length === 0) return events;
        const outermost = interceptCall<ClientCallContext, StreamResponse>(interceptors, (last) => {
          call = last as OperationCall<StreamingOperationName>;
          return events;
        });
        return outermost(call) as AsyncIterable<StreamResponse>;
      },
      open: (signal) => {
        if (isMessage && !this.#hasStreams) return this.#single(call.request as SendMessageRequest, within(signal));
        const opening = { ...call, context: within(signal, lastEventId) };
        return isMessage
          ? this.#calls.stream(opening)
          : this.#subscription(opening as OperationCall<'subscribeToTask'>);
      },
      subscribe: (id, place) => {
        const context = within(place.signal, place.lastEventId);
        return this.#subscription({ operation: 'subscribeToTask', request: { id }, context });
      },
      task: (id, signal) => this.#calls.unary({ operation: 'getTask', request: { id }, context: within(signal) }),
    });
  }

  #subscription(call: OperationCall<'subscribeToTask'>): EventBatches {
    const isBare = isLegacy(this.agentInterface.protocolVersion) && call.context.lastEventId === undefined;
    return isBare ? this.#bareSubscription(call) : this.#calls.stream(call);
  }

  async *#bareSubscription(
    call: OperationCall<'subscribeToTask'>,
  ): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    const { snapshotFirst } = await import('./snapshot-first.js');
    const opensLate = this.#binding?.opensStreamsLate === true;
    return yield* snapshotFirst(call, { calls: this.#calls, opensLate });
  }

  async *#single(
    request: SendMessageRequest,
    context: ClientCallContext,
  ): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    yield [{ event: await this.#calls.unary({ operation: 'sendMessage', request, context }) }];
  }

  /** The further binding of the next call. */
  get #binding(): ClientBinding | undefined {
    return this.#parts.bindingOf(this.agentInterface);
  }

  #declares(extension: string): boolean {
    return (this.#card.capabilities.extensions ?? []).some(({ uri }) => uri === extension);
  }
}

function hasMessage({ history = [] }: Task, request: object): boolean {
  const { messageId } = (request as SendMessageRequest).message;
  return history.some((message) => message.messageId === messageId);
}

/** @throws OptionsError for a request without an id. */
function withId<Request extends { readonly id: string }>(request: string | Request): Request | { readonly id: string } {
  const wanted = typeof request === 'string' ? { id: request } : request;
  if (typeof wanted?.id === 'string') return wanted;
  throw new OptionsError('Nothing was sent', ['give the id of a task, or { id }']);
}
