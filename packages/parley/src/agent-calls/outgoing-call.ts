import type { CallOptions } from '../client/call-options.js';
import type { Client } from '../client/client.js';
import type { ConnectionEvent } from '../client/connection-event.js';
import { isWaitOver } from '../client/task-waiting.js';
import { withText } from '../client/text-of.js';
import { A2AError } from '../errors/a2a-error.js';
import { AgentCallError } from '../errors/agent-call-error.js';
import { refusedAddressIn } from '../errors/refused-address-error.js';
import { contentHash } from '../model/content-hash.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { AskResult, SendMessageResponse, StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type { Clock } from '../runtime/clock.js';
import { ignoreRejection } from '../runtime/settled.js';
import { fingerprint } from '../runtime/sha256.js';
import type { AgentCall, AgentCallMessage, AgentCallOptions } from '../server/agent-call.js';
import { turnCourse } from '../server/execution/turn-course.js';
import type { ServedTurn, TurnCourse } from '../server/turn-ports.js';
import { eventBytes, messageBytes } from '../task/event-bytes.js';
import { usageIn } from '../task/token-usage.js';
import type { Logger } from '../telemetry/logger.js';
import { AGENT_CALLS_EXTENSION, type Caller, chainFault, metadataOf, nextChain, placesOf } from './call-chain.js';
import { askedCall, begunCall, type CallRecord, recordMetadata } from './call-record.js';
import { EventRelay } from './event-relay.js';
import { ownExtensions, ownMetadata } from './own-metadata.js';
import { type Patience, patiently } from './patience.js';
import { SentMessage } from './sent-message.js';

/** Limits of calls. */
export interface CallLimits {
  /** Longest call in ms. */
  readonly timeoutMs: number;
  /** Longest time in ms for the cancel of a callee's task, and for the event that names that task. */
  readonly cancelMs: number;
  /** Most bytes of the events of a callee. */
  readonly maxBytes: number;
}

/** Finds the card of a callee for one call. */
export interface CalleeSearch {
  /** Ends the search. */
  readonly signal: AbortSignal;
  /** The innermost interceptor of each call. */
  readonly last: SentMessage['interceptor'];
  readonly onConnection: (event: ConnectionEvent) => void;
}

/** A call that an agent makes, and its ports. */
interface OutgoingCallOptions {
  readonly turn: ServedTurn;
  readonly caller: Caller;
  /** The urls of the target that are known before its card. */
  readonly urls: readonly string[];
  readonly message: AgentCallMessage;
  readonly options: AgentCallOptions;
  /** Names the call within its turn. */
  readonly key: string;
  /** A hash of the target. */
  readonly callee: string;
  readonly connect: (search: CalleeSearch) => Promise<Client>;
  readonly limits: CallLimits;
  readonly patience: Patience;
  readonly clock: Clock;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called with each running cancel, so that a server waits for it when it closes. */
  readonly canceling: (cancel: Promise<void>) => void;
}

type Events = AsyncGenerator<StreamResponse, undefined>;

const END: IteratorReturnResult<undefined> = { value: undefined, done: true };
const FINGERPRINT_BYTES = 16;

/** One call of another agent. Its work runs only while it is awaited or iterated. */
export class OutgoingCall implements AgentCall {
  readonly #options: OutgoingCallOptions;
  readonly #course: TurnCourse;
  /** Ends the requests to the callee. */
  readonly #connection = new AbortController();
  /** Ends the waits for the next event. */
  readonly #waiting = new Set<(error: unknown) => void>();
  #events: Events | undefined;
  #answer: Promise<AskResult> | undefined;
  #outcome: SendMessageResponse | undefined;
  #client: Client | undefined;
  #taskId: string | undefined;
  #bytes = 0;
  /** The most tokens that the task of the callee has told. */
  #toldTokens = 0;
  /** The rest of the budgets that the callee was told. */
  #handedTokens: number | undefined;
  /** The time limit, by the monotonic clock. */
  #deadline = 0;
  #isSent = false;
  #isIterated = false;
  #stopped: { readonly error: unknown; readonly cancels: boolean } | undefined;
  #release: (() => void) | undefined;

  constructor(options: OutgoingCallOptions) {
    this.#options = options;
    this.#course = turnCourse(options.turn.course);
  }

  get taskId(): string | undefined {
    return this.#taskId;
  }

  // biome-ignore lint/suspicious/noThenProperty: a call is awaited for its answer.
  then<Result = AskResult, Failure = never>(
    fulfilled?: ((answer: AskResult) => Result | PromiseLike<Result>) | null,
    rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    this.#answer ??= this.#drain();
    return this.#answer.then(fulfilled, rejected);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamResponse, undefined> {
    this.#isIterated = true;
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  async #drain(): Promise<AskResult> {
    for (;;) {
      const { done } = await this.#next();
      if (done !== true) continue;
      if (this.#outcome !== undefined) return withText(this.#outcome);
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The call was left before its answer');
    }
  }

  /** The next event. Rejects with the reason if the call is stopped meanwhile. */
  #next(): Promise<IteratorResult<StreamResponse, undefined>> {
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<StreamResponse, undefined>>();
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped.error);
    this.#events ??= this.#run();
    this.#waiting.add(reject);
    this.#events
      .next()
      .then(resolve, (error: unknown) =>
        reject(this.#stopped === undefined ? refusedAddress(error) : this.#stopped.error),
      )
      .finally(() => this.#waiting.delete(reject));
    return promise;
  }

  async #leave(): Promise<IteratorReturnResult<undefined>> {
    this.#release?.();
    this.#connection.abort();
    await this.#events?.return(undefined).catch(() => {});
    return END;
  }

  async *#run(): Events {
    const { turn, options, key: call, callee, connect } = this.#options;
    this.#limit();
    try {
      this.#check(this.#options.urls);
      const { signal } = this.#connection;
      const sent = new SentMessage({ course: this.#course, name: `${callee} ${call}`, clock: this.#options.clock });
      const onConnection = (event: ConnectionEvent) => this.#tell(event);
      const client = await this.#patiently(() => connect({ signal, last: sent.interceptor, onConnection }));
      this.#client = client;
      this.#check(client.card.supportedInterfaces.map(({ url }) => url));
      const begun = turn.attempt > 1 ? begunCall(await turn.previousEvents(), { call, callee }) : undefined;
      const asked = askedCall(turn.question, { call: options.key, callee });
      const { into } = options;
      const relay = into && new EventRelay({ into, agent: client.card.name, record: { call, callee } });
      const events = begun ? this.#goOn(client, begun, asked) : this.#send(client, asked);
      let last: StreamResponse | undefined;
      for await (const event of events) {
        await this.#note(event);
        await relay?.take(event);
        last = event;
        yield event;
      }
      this.#outcome = await this.#answerAfter(last, client);
      await this.#countTokens(this.#outcome.task?.metadata);
      if (this.#taskId !== undefined) sent.done();
      await relay?.end(this.#outcome);
    } finally {
      this.#release?.();
      // A budget that is used up ends the turn by its signal.
      if (this.#outcome === undefined) ignoreRejection(this.#countTokens());
    }
    return undefined;
  }

  /** Stops the call at its time limit, and with its turn. */
  #limit(): void {
    const { turn, caller, options, limits, clock } = this.#options;
    const course = this.#course;
    const { signal } = turn;
    const ms = Math.min(options.timeoutMs ?? limits.timeoutMs, caller.chain?.remainingMs ?? Infinity);
    const stopTimer = clock.after(ms, () => {
      this.#stop(new AgentCallError('time', `The agent took longer than ${Math.round(ms)} ms`), true);
    });
    const onAbort = () => this.#stop(signal.reason, !course.goesOnElsewhere);
    signal.addEventListener('abort', onAbort, { once: true });
    const release = () => {
      stopTimer();
      signal.removeEventListener('abort', onAbort);
    };
    this.#release = release;
    this.#deadline = clock.monotonic() + ms;
    signal.throwIfAborted();
  }

  /**
   * The state of the callee that ends the call. A request for authorization ends it unless the agent, or the caller of
   * its task, sees the events.
   */
  get #until(): 'answer' | 'input' {
    return this.#isIterated || this.#options.options.into !== undefined ? 'input' : 'answer';
  }

  get #remainingMs(): number {
    const { clock } = this.#options;
    return Math.max(0, Math.min(this.#course.remainingMs, this.#deadline - clock.monotonic()));
  }

  /** @throws AgentCallError if the chain of calls forbids these urls. */
  #check(urls: readonly string[]): void {
    const found = chainFault(this.#options.caller, placesOf(urls));
    if (found !== undefined) throw new AgentCallError(found.fault, `The agent is not called: ${found.reason}`);
  }

  /** Sends the message. It goes to the task of the callee whose question it answers. */
  async *#send(client: Client, asked: CallRecord | undefined): Events {
    // No call begins at a limit.
    await this.#options.turn.tokens.check();
    const request = await this.#request(asked);
    const options = await this.#callOptions(client);
    this.#isSent = true;
    if (client.card.capabilities.streaming === true) {
      const stream = client.sendStreamingMessage(request, options);
      for await (const event of stream) {
        yield event;
        if (stream.isWaiting && stream.state !== undefined && isWaitOver(stream.state, this.#until)) return;
      }
      return;
    }
    const configuration = { returnImmediately: true };
    const answer = await client.sendMessage({ ...request, configuration }, options);
    yield answer;
    if (answer.task !== undefined && !isWaitOver(answer.task.status.state, this.#until))
      yield { task: await client.waitFor(answer.task.id, { ...options, until: this.#until }) };
  }

  async #request(asked: CallRecord | undefined): Promise<SendMessageRequest> {
    const { message, options } = this.#options;
    const { parts, metadata, extensions } =
      typeof message === 'string'
        ? { parts: [{ text: message }], metadata: undefined, extensions: undefined }
        : message;
    const { taskId = asked?.taskId, contextId = taskId === asked?.taskId ? asked?.contextId : undefined } = options;
    const said: Message = {
      messageId: await this.#messageId(),
      role: 'ROLE_USER',
      parts,
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(options.referenceTaskIds && { referenceTaskIds: options.referenceTaskIds }),
      ...(metadata && { metadata: ownMetadata(metadata) }),
      ...(extensions && { extensions: ownExtensions(extensions) }),
    };
    return { message: said };
  }

  /** The same in each attempt of the turn, so that an idempotent callee handles the message once. */
  #messageId(): Promise<string> {
    const { turn, key, callee } = this.#options;
    const { scope, message, number } = turn;
    const { agent, tenant, owner } = scope;
    const text = JSON.stringify([agent, tenant, owner, message.taskId, message.messageId, number, key, callee]);
    return fingerprint(text, FINGERPRINT_BYTES);
  }

  /** Adds what the task of the callee has used, by all that it has told, to the budgets of this turn. */
  async #countTokens(metadata?: JsonObject): Promise<void> {
    const { turn, callee } = this.#options;
    this.#learnTokens(metadata);
    if (this.#taskId !== undefined && this.#toldTokens > 0)
      await turn.tokens.addCalled(contentHash([callee, this.#taskId]), this.#toldTokens, this.#handedTokens);
  }

  /** Metadata of a task tell all tokens since its begin. Of two states, the one with more is the later. */
  #learnTokens(metadata: JsonObject | undefined): void {
    this.#toldTokens = Math.max(this.#toldTokens, usageIn(metadata)?.totalTokens ?? 0);
  }

  async #callOptions(client: Client): Promise<CallOptions> {
    const { turn, caller, options } = this.#options;
    const places = placesOf([...this.#options.urls, client.agentInterface.url]);
    const remainingTokens = await turn.tokens.rest();
    this.#handedTokens ??= remainingTokens;
    const rest = { remainingMs: this.#remainingMs, remainingTokens };
    const { traceparent } = turn;
    return {
      signal: this.#connection.signal,
      metadata: { ...options.metadata, ...metadataOf(nextChain(caller, places, rest)) },
      extensions: [AGENT_CALLS_EXTENSION],
      ...(traceparent !== undefined && { traceparent }),
    };
  }

  /** Resumes the task that an earlier attempt of the turn has begun. */
  async *#goOn(client: Client, begun: CallRecord, asked: CallRecord | undefined): Events {
    const options = await this.#callOptions(client);
    const messageId = await this.#messageId();
    // An old question stays in the status until the callee has accepted the message.
    const isOver = ({ status, history }: Task) =>
      isWaitOver(status.state, this.#until) &&
      (asked === undefined || status.state !== 'TASK_STATE_INPUT_REQUIRED' || hasMessage(history, messageId));
    const task = await this.#patiently(() => client.getTask(begun.taskId, options));
    yield { task };
    if (isOver(task)) return;
    if (client.card.capabilities.streaming !== true) {
      yield { task: await client.waitFor(task.id, { ...options, until: this.#until }) };
      return;
    }
    try {
      for await (const event of client.subscribeToTask(task.id, options)) {
        yield event;
        if (event.task !== undefined && isOver(event.task)) return;
        if (event.statusUpdate !== undefined && isWaitOver(event.statusUpdate.status.state, this.#until)) return;
      }
    } catch (error) {
      if (!(error instanceof A2AError) || error.code !== 'UNSUPPORTED_OPERATION') throw error;
      // The task has ended meanwhile, and this client has not seen its last events.
      yield { task: await this.#patiently(() => client.getTask(task.id, options)) };
    }
  }

  /** The answer after all events, which may have delivered the task in pieces. */
  async #answerAfter(last: StreamResponse | undefined, client: Client): Promise<SendMessageResponse> {
    if (last !== undefined && last.message !== undefined) return last;
    if (last !== undefined && last.task !== undefined && isWaitOver(last.task.status.state)) return last;
    const taskId = this.#taskId;
    if (taskId === undefined)
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent answered with no task and no message');
    const options = await this.#callOptions(client);
    return { task: await this.#patiently(() => client.getTask(taskId, options)) };
  }

  /** After a restart of both, the callee may start later than its caller. */
  #patiently<T>(read: () => Promise<T>): Promise<T> {
    const { patience, clock, random } = this.#options;
    const { signal } = this.#connection;
    return patiently(read, { patience, clock, random, signal, interrupted: (event) => this.#tell(event) });
  }

  #tell(event: ConnectionEvent): void {
    const { logger, turn } = this.#options;
    const { taskId } = turn.message;
    if (event.state === 'restored') {
      logger.info('another agent can be reached again', { taskId, attempt: event.attempt });
      return;
    }
    const { attempt, attempts, waitMs, error } = event;
    logger.warn('another agent cannot be reached, trying again', { taskId, attempt, attempts, waitMs, error });
  }

  /** Records the task of the callee, and counts the received bytes. */
  async #note(event: StreamResponse): Promise<void> {
    const { key: call, callee, limits } = this.#options;
    this.#bytes += event.message !== undefined ? messageBytes(event.message) : eventBytes(event);
    this.#learnTokens(event.task?.metadata);
    const named = namedTask(event);
    if (named !== undefined && this.#taskId === undefined) {
      this.#taskId = named.taskId;
      if (this.#stopped !== undefined) this.#cancelCallee();
      else await this.#course.note(recordMetadata({ call, callee, ...named }));
    }
    if (this.#bytes > limits.maxBytes) {
      const error = new AgentCallError('size', `The agent sent more than ${limits.maxBytes} bytes`);
      this.#stop(error, true);
      throw error;
    }
  }

  /** Ends the call here at once. The cancel of the callee's task continues for at most `cancelMs`. */
  #stop(error: unknown, cancels: boolean): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = { error, cancels };
    this.#release?.();
    // Before the agent learns of it, and ends the turn.
    ignoreRejection(this.#countTokens());
    for (const reject of this.#waiting) reject(error);
    const isNameless = cancels && this.#isSent && this.#taskId === undefined;
    if (isNameless) this.#awaitName();
    else this.#cancelCallee();
  }

  /** The callee may have received the message: waits a little for the event that names its task. */
  #awaitName(): void {
    const { clock, limits, canceling } = this.#options;
    const over = Promise.withResolvers<void>();
    const stopTimer = clock.after(limits.cancelMs, () => over.resolve());
    this.#connection.signal.addEventListener('abort', () => over.resolve(), { once: true });
    canceling(
      over.promise.then(() => {
        stopTimer();
        this.#connection.abort();
      }),
    );
  }

  #cancelCallee(): void {
    const { limits, logger, turn, canceling } = this.#options;
    this.#connection.abort(this.#stopped?.error);
    ignoreRejection(Promise.resolve(this.#events?.return(undefined)));
    const client = this.#client;
    const taskId = this.#taskId;
    if (this.#stopped?.cancels !== true || client === undefined || taskId === undefined) return;
    const { traceparent } = turn;
    const options = { timeoutMs: limits.cancelMs, ...(traceparent !== undefined && { traceparent }) };
    canceling(
      client.cancelTask(taskId, options).then(
        ({ metadata }) => this.#countTokens(metadata).catch(() => {}),
        (error: unknown) => {
          if (error instanceof A2AError && error.code === 'TASK_NOT_CANCELABLE') return;
          logger.warn('the task of another agent could not be canceled', { taskId: turn.message.taskId, error });
        },
      ),
    );
  }
}

function namedTask(event: StreamResponse): Pick<CallRecord, 'taskId' | 'contextId'> | undefined {
  if (event.message !== undefined) return undefined;
  if (event.task !== undefined) {
    const { id: taskId, contextId } = event.task;
    return { taskId, ...(contextId !== undefined && { contextId }) };
  }
  const { taskId, contextId } = event.statusUpdate !== undefined ? event.statusUpdate : event.artifactUpdate;
  return { taskId, contextId };
}

function hasMessage(history: readonly Message[] | undefined, messageId: string): boolean {
  return history === undefined || history.length === 0 || history.some((message) => message.messageId === messageId);
}

/** The refusal of an address behind an error of the client; any other error as it is. */
function refusedAddress(error: unknown): unknown {
  const refused = refusedAddressIn(error);
  return refused === undefined ? error : new AgentCallError('address', refused.message, { cause: error });
}
