import { isObject, type JsonObject } from '../model/json.js';
import type { Task } from '../model/task.js';
import { type AttemptTrace, traceIdIn, type WaitingCall } from '../telemetry/tracing.js';

/** The metadata member of a task with the trace of its last attempt. */
export const TRACE_METADATA = 'urn:parley-a2a:trace:v1';

/** Maximum length of a `traceparent`, and of an operation name. */
const LONGEST = 64;

type Stored<Value> = Partial<Record<keyof Value, unknown>>;

/** Returns the trace of the last attempt in the metadata of a task or a record. */
export function attemptTrace(metadata: JsonObject | undefined): AttemptTrace | undefined {
  const stored = metadata?.[TRACE_METADATA];
  if (!isObject(stored)) return undefined;
  const { traceparent, turn, attempt, handOvers, since, before, call } = stored as Stored<AttemptTrace>;
  if (!isShort(traceparent) || ![turn, attempt, handOvers, since].every(Number.isSafeInteger)) return undefined;
  const waiting = waitingCall(call);
  const read = { traceparent, turn, attempt, handOvers, since } as AttemptTrace;
  return { ...read, ...(isShort(before) && { before }), ...(waiting && { call: waiting }) };
}

/** Returns metadata for a new task with the trace of its call, until its first attempt has a trace. */
export function callTrace(traceparent: string, since: number): JsonObject {
  return { [TRACE_METADATA]: { traceparent, turn: 0, attempt: 0, handOvers: 0, since } };
}

/** Returns the trace id of the last attempt of a task. Undefined if its server has no tracing. */
export function traceIdOf(task: Pick<Task, 'metadata'>): string | undefined {
  const { metadata }: Partial<Task> = Object(task);
  return traceIdIn(attemptTrace(metadata)?.traceparent);
}

function waitingCall(stored: unknown): WaitingCall | undefined {
  if (!isObject(stored)) return undefined;
  const { traceparent, parent, method, since } = stored as Stored<WaitingCall>;
  if (!isShort(traceparent) || !isShort(method) || !Number.isSafeInteger(since)) return undefined;
  return { traceparent, method, since: since as number, ...(isShort(parent) && { parent }) };
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST;
}
