import type { User } from '../../auth/user.js';
import { OptionsError } from '../../errors/options-error.js';
import { cloneJson } from '../../model/clone-json.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import { isInterrupted } from '../../model/task-state.js';
import type { Clock } from '../../runtime/clock.js';
import { ignoreRejection } from '../../runtime/settled.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { Claim } from '../../store/held-turn.js';
import type { Scope } from '../../store/task-key.js';
import { taskBytes } from '../../task/event-bytes.js';
import { HandedTask } from '../../task/handed-task.js';
import { LogRecord } from '../../task/log-record.js';
import type { TokenUsage } from '../../task/token-usage.js';
import { TRACING, type Tracing } from '../../telemetry/tracing.js';
import type { AgentCall, AgentCallMessage, AgentCallOptions, AgentTarget, CallAgent } from '../agent-call.js';
import type { Authorization, AuthorizationRequest } from '../authorization.js';
import type { ConversationEntry, ConversationOptions } from '../conversation.js';
import type { RequestContext } from '../request-context.js';
import type { TurnFiles } from '../turn-files.js';
import type { ServedTurn, TurnPorts } from '../turn-ports.js';
import type { AddressedMessage } from './agent-event.js';
import { callerOf, type EngineContext } from './engine-context.js';
import { agentCheckpoint } from './turn-checkpoint.js';
import type { TurnCourseOptions } from './turn-course.js';
import { TurnPatience } from './turn-patience.js';
import { type CountedTurn, TurnTokens } from './turn-tokens.js';
import type { TurnTrace } from './turn-trace.js';

const NONE: readonly never[] = [];
const PREVIOUS_EVENTS_BYTES = 16 * 1_048_576;

/** The turn of a context. */
interface ContextTurn extends CountedTurn {
  readonly scope: Scope;
  readonly message: AddressedMessage;
  readonly caller: CallerContext;
  readonly course: TurnCourseOptions;
  readonly trace: TurnTrace | undefined;
  saveCheckpoint(value: JsonValue): Promise<void>;
  requestAuthorization(context: TurnContext, request: AuthorizationRequest): Promise<Authorization>;
}

/** Members that are copied at their first read by the agent. */
type Copied = Pick<RequestContext, 'task' | 'history' | 'metadata' | 'checkpoint'>;

/**
 * The context of one turn. An agent may change the objects in it: each is a copy, made at the first read. The signal is
 * also made at the first read.
 */
export class TurnContext implements RequestContext {
  readonly taskId: string;
  readonly contextId: string;
  readonly #context: EngineContext;
  readonly #turn: ContextTurn;
  /** The claim at the time of the call of the agent; absent for a draft. */
  readonly claim: Claim | undefined;
  #message: Message | undefined;
  #copies: { -readonly [Name in keyof Copied]?: Copied[Name] } | undefined;
  #controller: AbortController | undefined;
  #aborted: { reason: Error } | undefined;
  #files: TurnFiles | undefined;
  #callAgent: CallAgent | undefined;
  #patience: TurnPatience | undefined;
  #tokens: TurnTokens | undefined;
  #settled: (() => Promise<void> | undefined) | undefined;

  constructor(context: EngineContext, turn: ContextTurn, claim: Claim | undefined) {
    this.#context = context;
    this.#turn = turn;
    this.claim = claim;
    this.taskId = turn.message.taskId;
    this.contextId = turn.message.contextId;
  }

  get message(): Message {
    this.#message ??= cloneJson(this.#turn.message);
    return this.#message;
  }

  get text(): string {
    let text: string | undefined;
    for (const part of (this.#message ?? this.#turn.message).parts) {
      if (part.text !== undefined) text = text === undefined ? part.text : `${text}\n${part.text}`;
    }
    return text ?? '';
  }

  get task(): Task | undefined {
    const claim = this.claim;
    return claim && this.#copy('task', () => new HandedTask(claim.task));
  }

  get history(): readonly Message[] {
    return this.#copy('history', () => cloneJson(this.#before()));
  }

  async conversation(options: ConversationOptions = {}): Promise<readonly ConversationEntry[]> {
    const { storage, limits } = this.#context;
    const { scope, message } = this.#turn;
    const { conversationIn, entriesFrom, entryOfMessage } = await import('../conversation.js');
    const earlier = entriesFrom(this.taskId, this.#before(), this.claim?.task.artifacts ?? NONE);
    const place = {
      storage,
      scope,
      contextId: this.contextId,
      own: [...earlier, entryOfMessage(this.taskId, message)],
      ownTaskId: this.taskId,
      mostBytes: limits.referenceBytes,
    };
    return this.patience.ask(() => conversationIn(place, options));
  }

  async referenceTasks(): Promise<readonly Task[]> {
    const { storage, limits, logger } = this.#context;
    const { scope, message } = this.#turn;
    const found: Task[] = [];
    let bytes = 0;
    // One after another: the limit counts each task before the next one is read.
    for (const id of new Set(message.referenceTaskIds)) {
      const stored = await this.patience.ask(() => storage.task(scope, id));
      if (stored === undefined) continue;
      bytes += taskBytes(stored.task);
      if (bytes > limits.referenceBytes) {
        logger.warn('referenced tasks are too large, the rest is left out', {
          taskId: this.taskId,
          given: found.length,
        });
        break;
      }
      found.push(new HandedTask(stored.task));
    }
    return found;
  }

  get files(): TurnFiles {
    this.#files ??= this.#turnPort('files', 'files')(this.#served());
    return this.#files;
  }

  callAgent(target: AgentTarget, message: AgentCallMessage, options?: AgentCallOptions): AgentCall {
    this.#callAgent ??= this.#turnPort('callAgent', 'calls')(this.#served());
    return this.#callAgent(target, message, options);
  }

  countTokens(usage?: TokenUsage): Promise<void> {
    return ignoreRejection(this.#counted.count(usage));
  }

  get #counted(): TurnTokens {
    const { turnPorts, logger } = this.#context;
    this.#tokens ??= new TurnTokens({ turn: this.#turn, limits: turnPorts.tokens?.(this.#turn), logger });
    return this.#tokens;
  }

  get clock(): Clock {
    return this.#context.clock;
  }

  get user(): User | undefined {
    return callerOf(this.#turn.scope, this.#turn.caller);
  }

  get tenant(): string {
    return this.#turn.scope.tenant;
  }

  get extensions(): readonly string[] {
    return [...this.#turn.caller.extensions];
  }

  get traceparent(): string | undefined {
    return this.#turn.trace?.own ?? this.#turn.caller.traceparent;
  }

  /** The traces of the turn. Absent if the server has no tracing. */
  get trace(): TurnTrace | undefined {
    return this.#turn.trace;
  }

  get [TRACING](): Tracing | undefined {
    return this.#context.turnPorts.tracing;
  }

  get acceptedOutputModes(): readonly string[] {
    return [...(this.#turn.caller.acceptedOutputModes ?? NONE)];
  }

  get metadata(): JsonObject | undefined {
    return this.#copy('metadata', () => cloneJson(this.#turn.caller.requestMetadata));
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get attempt(): number {
    return (this.claim?.attempt ?? 1) + (this.#resumed?.attempt ?? 0);
  }

  async previousEvents(): Promise<readonly LogRecord[]> {
    const claim = this.claim;
    const { storage } = this.#context;
    if (claim === undefined || !(claim.began || this.#resumed)) return [];
    const first = this.#resumed?.turn ?? claim.turn;
    const key = { scope: this.#turn.scope, id: this.taskId };
    const found: LogRecord[] = [];
    for (let after = 0; after < claim.seq; ) {
      const { records } = await this.patience.ask(() => storage.records(key, after, PREVIOUS_EVENTS_BYTES));
      const last = records.at(-1);
      if (!last) break;
      for (const record of records) {
        if (record.turn >= first && record.turn <= claim.turn && record.seq <= claim.seq) found.push(copyOf(record));
      }
      after = last.seq;
    }
    return found;
  }

  get checkpoint(): JsonValue | undefined {
    return this.#copy('checkpoint', () => cloneJson(agentCheckpoint(this.claim?.checkpoint)));
  }

  requestAuthorization(request: AuthorizationRequest): Promise<Authorization> {
    return ignoreRejection(this.#turn.requestAuthorization(this, request));
  }

  saveCheckpoint(value: JsonValue): Promise<void> {
    return ignoreRejection(this.#turn.saveCheckpoint(value));
  }

  /** Repeats calls that the agent waits for during an outage. */
  get patience(): TurnPatience {
    if (this.#patience === undefined) {
      const { clock, logger } = this.#context;
      this.#patience = new TurnPatience({ taskId: this.taskId, clock, logger });
      if (this.#aborted) this.#patience.end();
    }
    return this.#patience;
  }

  /** Resolves when work has settled that a canceled turn waits for. Undefined if there is none. */
  get settled(): Promise<void> | undefined {
    return this.#settled?.();
  }

  /** Aborts the signal of the agent. */
  abort(reason: Error): void {
    this.#aborted ??= { reason };
    this.#patience?.end();
    this.#controller?.abort(reason);
  }

  /**
   * Returns the messages before this one. The last one is the question that this message answers, which joins the
   * history with it.
   */
  #before(): readonly Message[] {
    const claim = this.claim;
    const { message } = this.#turn;
    if (!claim) return NONE;
    const { history = NONE, status } = claim.task;
    const own = history.findLastIndex(
      ({ messageId, role }) => messageId === message.messageId && role === message.role,
    );
    if (own >= 0) return history.slice(0, own);
    return status.message && isInterrupted(status.state) ? [...history, status.message] : history;
  }

  /** The first turn of the same message. */
  get #resumed(): { readonly turn: number; readonly attempt: number } | undefined {
    const { resumes } = this.#turn.caller;
    return resumes === true ? undefined : resumes;
  }

  /** Returns the properties of the turn for turn ports, which may read the message but not change it. */
  #served(): ServedTurn {
    const { scope, message, caller, course } = this.#turn;
    const last = this.#before().at(-1);
    return {
      scope,
      message,
      caller,
      traceparent: this.traceparent,
      user: this.user,
      signal: this.signal,
      patience: this.patience,
      number: this.#resumed?.turn ?? this.claim?.turn ?? 1,
      attempt: this.attempt,
      question: last?.role === 'ROLE_AGENT' ? last : undefined,
      previousEvents: () => this.previousEvents(),
      settleFirst: (settled) => {
        this.#settled = settled;
      },
      course,
      tokens: {
        addCalled: (...called) => this.#counted.addCalled(...called),
        rest: () => this.#counted.rest(),
        check: () => this.#counted.count(undefined),
      },
    };
  }

  /**
   * Returns a turn port.
   * @throws OptionsError if the server lacks it; the error names `option`.
   */
  #turnPort<Name extends keyof TurnPorts>(name: Name, option: string): NonNullable<TurnPorts[Name]> {
    const port = this.#context.turnPorts[name];
    if (port === undefined) throw new OptionsError(`context.${name}`, [`the server needs the option ${option}`]);
    return port;
  }

  #copy<Name extends keyof Copied>(name: Name, make: () => Copied[Name]): Copied[Name] {
    this.#copies ??= {};
    if (!(name in this.#copies)) this.#copies[name] = make();
    return this.#copies[name] as Copied[Name];
  }
}

function copyOf({ seq, turn, text, history, metadata }: LogRecord): LogRecord {
  return new LogRecord(seq, turn, text, cloneJson({ ...(history && { history }), ...(metadata && { metadata }) }));
}

/** Returns the traces of a turn, for code that makes its span. Absent if the server has no tracing. */
export function turnTrace(context: RequestContext): TurnTrace | undefined {
  // Checked by property, not by class: `parley serve` bundles tracing with its own copy of this function.
  return (context as { readonly trace?: TurnTrace }).trace;
}
