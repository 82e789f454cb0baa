import type { Part } from 'parley-a2a';
import { LABELS } from './labels.js';
import type { Output } from './output.js';

/** A part with data, which may record a tool call. */
type DataPart = Extract<Part, { data: unknown }>;

/** The members of a recorded call that are printed. */
interface ShownCall {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly failure?: { readonly message?: unknown };
}

const MOST_SHOWN = 120;
/** The states of a call that has not ended. */
const OPEN: readonly string[] = ['requested', 'approved', 'running'];

/** True if data only records a change of a tool call, or lists waiting calls. Verbose output prints it as data. */
export function isToolData(part: Part): part is DataPart {
  return callIn(part) !== undefined || waitingIn(part) !== undefined;
}

/** Writes a line for each call with its tool, last state, arguments and outcome, each shortened. */
export function writeToolCalls(output: Output, parts: readonly DataPart[]): void {
  const calls = new Map<string, ShownCall>();
  for (const part of parts) {
    const call = callIn(part);
    if (call !== undefined) calls.set(call.id, { ...calls.get(call.id), ...call });
    for (const { callId, tool, input } of waitingIn(part) ?? [])
      calls.set(callId, { id: callId, tool, state: 'waits for an answer', input });
  }
  for (const { id, tool, state, input, output: result, failure } of calls.values()) {
    const outcome = result === undefined ? textIn(failure?.message) : shortJson(result);
    const pieces = [`${tool}${input === undefined ? '' : ` ${shortJson(input)}`}`, `${state} (${id})`];
    output.field(LABELS.tool, `${pieces.join(' · ')}${outcome === undefined ? '' : `: ${outcome}`}`);
  }
}

/** Returns the parts of an artifact of a finished task. Open calls are marked as canceled. */
export function withCallEnds(parts: readonly Part[]): readonly Part[] {
  const calls = new Map(parts.flatMap((part) => callIn(part) ?? []).map((call) => [call.id, call]));
  const open = [...calls.values()].filter(({ state }) => OPEN.includes(state));
  return [...parts, ...open.map(({ id, tool }) => ({ data: { toolCall: { id, tool, state: 'canceled' } } }))];
}

function callIn(part: Part): ShownCall | undefined {
  const call = memberOf(part, 'toolCall');
  if (!isObject(call)) return undefined;
  const { id, tool, state } = call;
  if (typeof id !== 'string' || typeof tool !== 'string' || typeof state !== 'string') return undefined;
  const { failure, ...members } = call;
  return { ...members, id, tool, state, ...(isObject(failure) && { failure }) };
}

function waitingIn(part: Part): readonly { callId: string; tool: string; input?: unknown }[] | undefined {
  const waiting = memberOf(part, 'toolApprovals') ?? memberOf(part, 'toolQuestions');
  if (!Array.isArray(waiting) || waiting.length === 0) return undefined;
  const isCall = (one: unknown): one is { callId: string; tool: string; input?: unknown } =>
    isObject(one) && typeof one.callId === 'string' && typeof one.tool === 'string';
  return waiting.every(isCall) ? waiting : undefined;
}

/** Returns the only member of the data of a part, if it has this name. */
function memberOf(part: Part, name: string): unknown {
  if (part.data === undefined || !isObject(part.data) || Object.keys(part.data).length !== 1) return undefined;
  return part.data[name];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? cut(value) : undefined;
}

/** Formats JSON on one line, shortened. */
function shortJson(value: unknown): string {
  return cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN).toWellFormed()}…` : text;
}
