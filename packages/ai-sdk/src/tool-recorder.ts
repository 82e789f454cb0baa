import type { JsonObject } from 'parley-a2a';
import {
  type CallChange,
  canceledChange,
  DEFAULT_TOOL_LIMITS,
  guardTurn,
  ignoreRejection,
  interruptedText,
  isFinished,
  MORE_FOLLOWS,
  nextCall,
  type RecordedCall,
  recordPart,
  refusalOf,
  TOOLS_ARTIFACT,
  TOOLS_EXTENSION,
} from 'parley-a2a/kit';
import type { EventQueue, RequestContext } from 'parley-a2a/server';
import type { ToolApproval, ToolFailureReason } from 'parley-a2a/tools';
import { modelMetadata, shownValue } from './model-output.js';
import { type ApprovalRequestPart, answeredCalls, approvalOf, requestMetadata, resumedCalls } from './sdk-approvals.js';

/** The call that a part of the stream of a model is about. */
interface StreamedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly toolMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The outcome of a call: its result, or the reason of its failure. */
export type SeenResult = { readonly output: unknown } | { readonly reason: ToolFailureReason };

/** The turn whose task records the calls. */
interface RecordingTurn {
  readonly context: RequestContext;
  readonly events: EventQueue;
  /** True if a run records calls of the same turn and decides about its approvals. */
  readonly hasRun: boolean;
  /** False: only calls that wait for an approval are recorded. */
  readonly isOn: boolean;
  /** True if an earlier attempt has read the message of the turn. */
  readonly isResumed?: boolean;
}

/** Metadata of tools whose calls a run records. The AI SDK copies it to each call. */
export const RECORDED_BY_RUN = { [TOOLS_EXTENSION]: true };

const MOST_CALLS = DEFAULT_TOOL_LIMITS.callsPerTask;

/** Records the calls of tools of the AI SDK in the task. A run records its own calls. */
export class ToolRecorder {
  readonly #turn: RecordingTurn;
  readonly #open = new Set<string>();
  readonly #others = new Set<string>();
  readonly #calls: Map<string, RecordedCall>;
  readonly #number: number;
  readonly #approvals: ToolApproval[] = [];
  readonly #changes: readonly CallChange[];
  /** The calls with a change by this recorder. */
  readonly #changed = new Set<string>();
  #hasArtifact: boolean;
  #made = 0;
  #fault: string | undefined;

  constructor(turn: RecordingTurn) {
    this.#turn = turn;
    const { calls, changes, run } = turn.isResumed ? resumedCalls(turn.context) : answeredCalls(turn.context);
    this.#calls = new Map(calls);
    this.#changes = turn.hasRun ? [] : changes;
    this.#hasArtifact = calls.size > 0;
    this.#number = run;
  }

  /** True if a call has no result, and will not get one. */
  get hasOpenCalls(): boolean {
    return this.#open.size > 0;
  }

  /** The calls that the owner of the task has to approve now. */
  get approvals(): readonly ToolApproval[] {
    return this.#approvals;
  }

  /** The ids of approved calls without a result. The AI SDK runs them before the model. */
  get approved(): readonly string[] {
    return [...this.#calls.values()].filter(({ state }) => state === 'approved').map(({ id }) => id);
  }

  /** The reason to fail the task: the model made calls that cannot be recorded. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /**
   * Ends the calls that an earlier attempt of the turn left open: with the results that the model has got, or as
   * interrupted. Returns the calls of the interrupted step, with their outcomes.
   */
  async endInterrupted(seen: ReadonlyMap<string, SeenResult>): Promise<ReadonlyMap<string, RecordedCall>> {
    const last = Math.max(0, ...[...this.#calls.values()].map(({ run }) => run));
    const ofLast = [...this.#calls.values()].filter(({ run }) => run === last);
    for (const { id, tool, state, expiresAt } of ofLast) {
      const result = seen.get(id);
      const isAsked = state === 'requested' && expiresAt !== undefined;
      if (result !== undefined) await this.end({ toolCallId: id, toolName: tool }, result);
      else if (isAsked) await this.#apply({ id, tool, state: 'refused', failure: refusalOf(undefined) });
      else
        await this.#apply({
          id,
          tool,
          state: 'failed',
          failure: { reason: 'interrupted', message: interruptedText(tool) },
        });
    }
    const ended = ofLast.flatMap(({ id }) => this.#calls.get(id) ?? []);
    return new Map(ended.filter(({ id, state }) => !seen.has(id) && state !== 'refused').map((one) => [one.id, one]));
  }

  /** Records the message's answers to waiting calls. */
  async recordAnswers(): Promise<void> {
    for (const change of this.#changes) await this.#append(change);
  }

  async begin(call: StreamedCall & { readonly input: unknown }): Promise<void> {
    const { toolCallId, toolName, toolMetadata, input } = call;
    this.#made += 1;
    if (this.#made > MOST_CALLS) this.#fault = `The model made more than ${MOST_CALLS} calls of tools.`;
    this.#open.add(toolCallId);
    if (toolMetadata?.[TOOLS_EXTENSION] === true) this.#others.add(toolCallId);
    await this.#record({ ...this.#first(toolCallId, toolName), input: shownValue(input) });
  }

  /** Records that a call waits for the owner of the task. */
  async request(part: ApprovalRequestPart): Promise<void> {
    const { toolCallId, toolName } = part.toolCall;
    // An automatic answer follows in the stream. A run asks for the approvals of its tools itself.
    if (part.isAutomatic === true || this.#turn.hasRun) return;
    const asked = approvalOf(part, this.#turn.context.clock.now());
    if ('fault' in asked) {
      this.#fault = asked.fault;
      return;
    }
    const { input, expiresAt } = asked.approval;
    const change: CallChange = { ...this.#first(toolCallId, toolName), input, expiresAt };
    const known = this.#calls.get(toolCallId);
    // A late answer to the earlier call of this id would approve this one.
    if (known !== undefined && (known.expiresAt !== undefined || nextCall(known, change) === undefined)) {
      this.#fault = 'The model gave two calls the same id.';
      return;
    }
    this.#open.delete(toolCallId);
    this.#approvals.push(asked.approval);
    await this.#apply(change, modelMetadata(requestMetadata(part)));
  }

  async end({ toolCallId, toolName }: StreamedCall, outcome: SeenResult): Promise<void> {
    this.#open.delete(toolCallId);
    const call = { id: toolCallId, tool: toolName };
    if ('output' in outcome) {
      await this.#record({ ...call, state: 'succeeded', output: shownValue(outcome.output) });
      return;
    }
    const { reason } = outcome;
    const isRefused = reason === 'refused';
    const message = isRefused ? `The call of ${toolName} was refused.` : `${toolName} failed.`;
    await this.#record({ ...call, state: isRefused ? 'refused' : 'failed', failure: { reason, message } });
  }

  /** Cancels the unfinished calls that are recorded. */
  close(): void {
    const calls = [...this.#changed].flatMap((id) => this.#calls.get(id) ?? []);
    const changes = calls.filter((call) => !isFinished(call)).map(canceledChange);
    if (changes.length === 0) return;
    for (const [at, change] of changes.entries())
      this.#calls.set(change.id, { ...calls[at], ...change } as RecordedCall);
    const parts = changes.map((change) => recordPart(change));
    ignoreRejection(this.#turn.events.append(TOOLS_ARTIFACT.artifactId, parts));
  }

  #first(id: string, tool: string): CallChange {
    return { id, tool, state: 'requested', run: this.#number, messageIds: [this.#turn.context.message.messageId] };
  }

  async #record(change: CallChange): Promise<void> {
    // Later turns need the results of approved calls even if other calls are not recorded.
    const isKept = this.#turn.isOn || this.#calls.get(change.id)?.expiresAt !== undefined;
    if (isKept && !this.#others.has(change.id)) await this.#apply(change);
  }

  /** Records a valid change. A call with a repeated id has no record of its own. */
  async #apply(change: CallChange, metadata?: JsonObject): Promise<void> {
    const call = nextCall(this.#calls.get(change.id), change);
    if (call === undefined) return;
    this.#calls.set(call.id, call);
    await this.#append(change, metadata);
  }

  async #append(change: CallChange, metadata?: JsonObject): Promise<void> {
    const { events } = this.#turn;
    // The recorder asks for its approvals itself.
    if (this.#changed.size === 0) guardTurn(this.#turn, { close: () => this.close(), question: () => undefined });
    this.#changed.add(change.id);
    const part = recordPart(change, metadata);
    if (this.#hasArtifact) await events.append(TOOLS_ARTIFACT.artifactId, part);
    else await events.artifact(part, { ...TOOLS_ARTIFACT, ...MORE_FOLLOWS });
    this.#hasArtifact = true;
  }
}
