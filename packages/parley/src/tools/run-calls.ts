import type { JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import { ignoreRejection } from '../runtime/settled.js';
import { type EventQueue, MORE_FOLLOWS } from '../server/event-queue.js';
import type { RequestContext } from '../server/request-context.js';
import { askedCallIds, type DecidedCalls, decidedCalls, isExpired, waitingCalls } from './approval-decisions.js';
import { guardTurn, type OpenQuestionContent } from './guarded-events.js';
import { ApprovalNeededError, type ToolCall, type ToolListener, type ToolQuestion } from './tool.js';
import { approvalQuestion, type ToolApproval, UNDECIDED } from './tool-approvals.js';
import { abortedCall, isLarger, type ToolLimits } from './tool-execution.js';
import { answersIn, questionMessage, type WaitingQuestion } from './tool-questions.js';
import {
  type CallChange,
  canceledChange,
  changedCall,
  firstCall,
  isFinished,
  type OwnCall,
  openQuestion,
  ownRecordPart,
  type RecordedCall,
  recordedCalls,
  recordPart,
  TOOLS_ARTIFACT,
  toldCall,
} from './tool-records.js';

/** The task of a run, and the limits of its calls. */
interface RunCallsOptions {
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly limits: ToolLimits;
  /** Called with each change of a call in this process. */
  readonly onEvent: ToolListener | undefined;
}

/** Members of the first change of a call, beside its state. */
export type FirstChange = Required<Pick<CallChange, 'run' | 'input'>>;

/**
 * The calls of one run, recorded in its task. The message of the turn begins a run, or answers calls of the last one.
 */
export class RunCalls {
  readonly #options: RunCallsOptions;
  readonly #calls: Map<string, OwnCall>;
  readonly #messageIds: readonly string[];
  #hasArtifact: boolean;
  /** True if the task records a call of this run. */
  #isBegun: boolean;
  #isGuarded = false;
  #isOver = false;
  /** The number of the run in its task. */
  readonly number: number;
  /** Number of calls in the task before this turn. */
  readonly earlier: number;
  /** The message that began the run: the prompt, even if this turn has the answer to an approval. */
  readonly message: Message;
  /** True if the message only answers calls that are not waiting, while others are. The question stays open. */
  readonly isStray: boolean;
  /** The reason why the message does not answer the question of a call, by the id of the call. */
  readonly faults: ReadonlyMap<string, string>;

  constructor(options: RunCallsOptions) {
    this.#options = options;
    const { message, history, task } = options.context;
    const recorded = recordedCalls(task);
    this.#calls = recorded;
    this.earlier = recorded.size;
    this.#hasArtifact = recorded.size > 0;
    const calls = [...recorded.values()];
    const last = Math.max(0, ...calls.map(({ run }) => run));
    const lastCalls = calls.filter(({ run }) => run === last);
    const repeated = calls.find(({ messageIds }) => messageIds.includes(message.messageId));
    this.#isBegun = true;
    const { kind, faults } = repeated === undefined ? this.#decide(message, lastCalls) : REPEATED;
    this.faults = faults;
    this.isStray = kind === 'stray';
    this.number = repeated?.run ?? (kind === 'other' ? last + 1 : last);
    const firstId = this.own()[0]?.messageIds?.[0];
    this.#isBegun = firstId !== undefined;
    this.message = history.find(({ messageId }) => messageId === firstId) ?? message;
    this.#messageIds = [this.message.messageId];
    if (!this.#isGuarded && this.#open.length > 0) this.#guard();
  }

  /** True once the run has asked its question or has closed its calls. No further calls are allowed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A call of the task. */
  get(id: string): OwnCall | undefined {
    return this.#calls.get(id);
  }

  /** The calls of this run so far, including earlier turns and attempts. */
  own(): readonly OwnCall[] {
    return [...this.#calls.values()].filter(({ run }) => run === this.number);
  }

  /** The first change of a call, beside its state. */
  first(input: JsonValue): FirstChange {
    return { run: this.number, input };
  }

  /**
   * Records a change. Its arguments and its result must not be shared with other code. Rejects with a ToolError
   * `aborted` if the run is over.
   */
  record(change: CallChange): Promise<void> {
    if (this.#isOver) return ignoreRejection(Promise.reject(abortedCall(change.tool)));
    const known = this.#calls.get(change.id);
    // Only the first call of a run records the message that began it.
    const isFirst = known === undefined && !this.#isBegun;
    const told = isFirst ? { ...change, messageIds: this.#messageIds } : change;
    this.#isBegun = true;
    const call = known === undefined ? firstCall(told) : changedCall(known, told);
    if (call === undefined) throw new Error(`The call ${change.id} cannot become ${change.state}`);
    this.#set(call);
    const { events } = this.#options;
    const part = ownRecordPart(told);
    if (this.#hasArtifact) return events.append(TOOLS_ARTIFACT.artifactId, part);
    this.#hasArtifact = true;
    return events.artifact(part, { ...TOOLS_ARTIFACT, ...MORE_FOLLOWS }).then(() => {});
  }

  /** Cancels all unfinished calls of the task, which is about to end. */
  close(): void {
    this.#isOver = true;
    const changes = this.#open.map(canceledChange);
    if (changes.length === 0) return;
    for (const change of changes) {
      const call = this.#calls.get(change.id);
      if (call !== undefined) this.#set({ ...call, ...change });
    }
    const parts = changes.map((change) => recordPart(change));
    ignoreRejection(this.#options.events.append(TOOLS_ARTIFACT.artifactId, parts));
  }

  /** The question for all waiting calls. Undefined if none waits. */
  question(): OpenQuestionContent | undefined {
    const approvals: ToolApproval[] = [];
    const questions: WaitingQuestion[] = [];
    for (const call of waitingCalls(this.own())) {
      const { id: callId, tool, input = null, expiresAt = '' } = call;
      const question = openQuestion(call);
      if (question === undefined) approvals.push({ callId, tool, input, expiresAt });
      else questions.push({ callId, tool, ...question, expiresAt });
    }
    const asked = approvals.length > 0 ? [approvalQuestion(approvals, this.isStray ? UNDECIDED : undefined)] : [];
    const messages = questions.length > 0 ? [...asked, questionMessage(questions, this.faults)] : asked;
    const [first] = messages;
    return first && { ...first, parts: messages.flatMap(({ parts }) => parts) };
  }

  get #open(): readonly OwnCall[] {
    return [...this.#calls.values()].filter((call) => !isFinished(call));
  }

  #set(call: OwnCall): void {
    this.#calls.set(call.id, call);
    const { context, onEvent } = this.#options;
    const { taskId, contextId } = context;
    onEvent?.({ taskId, contextId, call: toldCall(call) });
    if (!this.#isGuarded && !isFinished(call)) this.#guard();
  }

  /** From the first open call on, guards the turn, so that its end or its question leaves no call open. */
  #guard(): void {
    this.#isGuarded = true;
    guardTurn(this.#options, {
      close: () => this.close(),
      question: () => {
        this.#isOver = true;
        return this.question();
      },
    });
  }

  /** Records that a call waits for an approval. */
  waitForApproval(call: Pick<ToolCall, 'id' | 'tool'>, first: FirstChange): ApprovalNeededError {
    const waiting: CallChange = { ...call, state: 'requested', ...first, expiresAt: this.#expiry() };
    ignoreRejection(this.record(waiting));
    return new ApprovalNeededError(toldCall(waiting));
  }

  /** Records the question of a call, which runs again after the answer. */
  waitForAnswer(
    call: Pick<ToolCall, 'id' | 'tool'>,
    question: ToolQuestion,
    first: FirstChange | undefined,
  ): ApprovalNeededError {
    const asked = [...(this.#calls.get(call.id)?.asked ?? []), { question }];
    ignoreRejection(this.record({ ...call, state: 'requested', ...first, asked, expiresAt: this.#expiry() }));
    const waiting = this.#calls.get(call.id);
    return new ApprovalNeededError(toldCall(waiting ?? { ...call, state: 'requested' }));
  }

  #expiry(): string {
    const { context, limits } = this.#options;
    return new Date(context.clock.now() + limits.approvalMs).toISOString();
  }

  /** Records the answers of the message to the waiting calls of a run. `other`: the message begins a new run. */
  #decide(message: Message, calls: readonly RecordedCall[]): Decided {
    const { clock, history } = this.#options.context;
    const asked = askedCallIds(history.at(-1));
    const waiting = waitingCalls(calls);
    const questions = waiting.filter((call) => asked.has(call.id) && openQuestion(call) !== undefined);
    const faults = questions.length > 0 ? this.#answer(message, questions, asked.size === 1) : NO_FAULTS;
    const approvals = waiting.filter((call) => !questions.includes(call));
    const { changes, kind } = decidedCalls(message, { waiting: approvals, asked, now: clock.now() });
    // While a tool waits for an answer, every message counts as one.
    if (questions.length > 0 && kind !== 'answer') return { kind: 'answer', faults };
    for (const change of changes) ignoreRejection(this.record(change));
    return { kind, faults };
  }

  /** Records the answers of the message to questions of calls. Unanswered questions are asked again. */
  #answer(
    { messageId, parts }: Message,
    waiting: readonly RecordedCall[],
    mayBePlain: boolean,
  ): ReadonlyMap<string, string> {
    const { context, limits } = this.#options;
    const faults = new Map<string, string>();
    const questions = new Map(
      waiting.flatMap((call) => {
        const question = openQuestion(call);
        return question === undefined ? [] : [[call.id, question] as const];
      }),
    );
    for (const [id, read] of answersIn(parts, questions, mayBePlain)) {
      const call = waiting.find((one) => one.id === id);
      const question = questions.get(id);
      if (call === undefined || question === undefined) continue;
      const { tool, expiresAt, asked = [] } = call;
      const messageIds = [...call.messageIds, messageId];
      if (isExpired(expiresAt, context.clock.now())) {
        const failure = { reason: 'expired', message: 'The answer came too late.' } as const;
        ignoreRejection(this.record({ id, tool, state: 'refused', messageIds, failure }));
      } else if ('fault' in read) faults.set(id, read.fault);
      else if (isLarger(read.answer, limits.inputBytes)) faults.set(id, 'it is too large');
      else {
        const answered = [...asked.slice(0, -1), { question, answer: read.answer }];
        ignoreRejection(this.record({ id, tool, state: 'approved', messageIds, asked: answered }));
      }
    }
    return faults;
  }
}

/** The effect of a message on the waiting calls, and the reasons why it does not answer their questions. */
interface Decided {
  readonly kind: DecidedCalls['kind'];
  readonly faults: ReadonlyMap<string, string>;
}

const NO_FAULTS: ReadonlyMap<string, string> = new Map();
/** A repeated message has the same effect as before. */
const REPEATED: Decided = { kind: 'answer', faults: NO_FAULTS };
