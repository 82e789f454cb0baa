import type { JsonObject } from '../../model/json.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { Claim } from '../../store/held-turn.js';
import { attemptTrace, TRACE_METADATA } from '../../task/attempt-trace.js';
import { statusTime } from '../../task/status-time.js';
import { isSampled, type LostAttempt, type TraceContext, type WaitingCall } from '../../telemetry/tracing.js';

/** The traces of a turn: of its message, of the attempt before, and of this attempt. */
export class TurnTrace {
  /** The trace context of the message. */
  readonly cause: TraceContext;
  /** The acceptance of the message, in ms since the epoch. Absent for a draft, which does not wait. */
  readonly acceptedAt: number | undefined;
  /** The `traceparent` of the attempt before, or of the turn before. */
  before: string | undefined;
  #own: string | undefined;
  #state: TaskState | undefined;
  #note: { readonly since: number; readonly call: WaitingCall | undefined } | undefined;

  constructor(caller: CallerContext, metadata: JsonObject | undefined, isDraft = false) {
    this.cause = causeOf(caller);
    this.acceptedAt = isDraft ? undefined : caller.acceptedAt;
    const last = attemptTrace(metadata);
    // A new task contains the trace of its call.
    if (last !== undefined && last.attempt > 0) this.before = last.traceparent;
  }

  /** The `traceparent` of this attempt, once it is set. */
  get own(): string | undefined {
    return this.#own;
  }

  /** Sets the span of this attempt. It is stored with the first event of the attempt. */
  begin(traceparent: string, since: number, call?: WaitingCall): void {
    this.#own = traceparent;
    // A trace that was not sampled cannot be read, so it is not stored.
    if (isSampled(traceparent)) this.#note = { since, call };
  }

  /** The last state that the agent has published, other than WORKING. */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** Called with each event of the agent. */
  met({ statusUpdate }: StreamResponse): void {
    if (statusUpdate === undefined) return;
    const { state } = statusUpdate.status;
    if (state !== 'TASK_STATE_WORKING') this.#state = state;
  }

  /** Returns the metadata with the trace of this attempt, once. Undefined after that. */
  takeNote(claim: Pick<Claim, 'turn' | 'attempt' | 'handOvers'>): JsonObject | undefined {
    const [note, traceparent] = [this.#note, this.#own];
    if (note === undefined || traceparent === undefined) return undefined;
    this.#note = undefined;
    const { turn, attempt, handOvers } = claim;
    const { since, call } = note;
    const { before } = this;
    const told = { traceparent, turn, attempt, handOvers, since, ...(before && { before }) };
    return { [TRACE_METADATA]: { ...told, ...(call && { call: { ...call } }) } };
  }
}

/** Returns the attempt before a claim, if its process has died. `fate`: the next step for the turn. */
export function lostAttempt({ scope, task, message, caller, ...claim }: Claim, fate: string): LostAttempt | undefined {
  const attempt = claim.attempt - 1;
  if (attempt === 0) return undefined;
  const stored = attemptTrace(task.metadata);
  const trace = stored?.turn === claim.turn && stored.attempt === attempt ? stored : undefined;
  const isHandedOver = trace === undefined ? claim.handOvers >= attempt : claim.handOvers > trace.handOvers;
  if (isHandedOver) return undefined;
  return {
    agent: scope.agent,
    taskId: task.id,
    contextId: task.contextId ?? '',
    messageId: message.messageId,
    attempt,
    cause: causeOf(caller),
    trace,
    since: trace?.since ?? statusTime(task.status),
    fate,
  };
}

function causeOf({ traceparent, tracestate, baggage }: CallerContext): TraceContext {
  return { traceparent, tracestate, baggage };
}
