import type { ToolCallPart, ToolResultPart } from 'ai';
import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Part } from '../../model/part.js';

/** Calls that a model made at once, and their results in the same order. */
export interface RecordedStep {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultPart[];
}

/** The steps of a model with tools, in order. */
export type RecordedTools = readonly RecordedStep[];

/** The outcome of a tool call, for its record. */
export type ToolOutcome =
  | { readonly state: 'succeeded'; readonly output: JsonValue }
  | { readonly state: 'failed' | 'refused' };

/** A call of a tool as a part of the artifact with all calls. */
export function callRecord({
  toolCallId,
  toolName,
  input,
}: {
  toolCallId: string;
  toolName: string;
  input: JsonValue;
}): {
  readonly data: JsonObject;
} {
  return { data: { call: toolCallId, tool: toolName, input } };
}

/** The outcome of a call as a part of the same artifact. */
export function outcomeRecord(toolCallId: string, outcome: ToolOutcome): { readonly data: JsonObject } {
  return { data: { call: toolCallId, ...outcome } };
}

/**
 * Reads the records of calls and outcomes. A call without an outcome is left out: models refuse a conversation with
 * such a call.
 */
export function recordedTools(parts: readonly Part[]): RecordedTools {
  const results = new Map<string, ToolResultPart['output']>();
  for (const record of recordsIn(parts)) {
    if (record.outcome !== undefined) results.set(record.id, record.outcome);
  }
  const steps: { calls: ToolCallPart[]; results: ToolResultPart[] }[] = [];
  const seen = new Set<string>();
  let isOpen = false;
  for (const { id, tool, input, outcome } of recordsIn(parts)) {
    if (outcome !== undefined) {
      // The calls after an outcome belong to the next step of the model.
      isOpen = false;
      continue;
    }
    const output = results.get(id);
    if (tool === undefined || output === undefined || seen.has(id)) continue;
    seen.add(id);
    if (!isOpen) steps.push({ calls: [], results: [] });
    isOpen = true;
    steps.at(-1)?.calls.push({ type: 'tool-call', toolCallId: id, toolName: tool, input });
    steps.at(-1)?.results.push({ type: 'tool-result', toolCallId: id, toolName: tool, output });
  }
  return steps;
}

interface ToolRecord {
  readonly id: string;
  readonly tool: string | undefined;
  readonly input: JsonValue;
  readonly outcome: ToolResultPart['output'] | undefined;
}

function recordsIn(parts: readonly Part[]): ToolRecord[] {
  return parts.flatMap((part): ToolRecord[] => {
    if (!('data' in part) || !isObject(part.data) || typeof part.data.call !== 'string') return [];
    const { call: id, tool, input = {}, state, output = null } = part.data as { readonly call: string } & JsonObject;
    return [{ id, tool: typeof tool === 'string' ? tool : undefined, input, outcome: outcomeOf(state, output) }];
  });
}

function outcomeOf(state: JsonValue | undefined, output: JsonValue): ToolResultPart['output'] | undefined {
  if (state === 'succeeded') return { type: 'json', value: output as never };
  if (state === 'failed') return { type: 'error-text', value: 'The tool failed.' };
  return state === 'refused' ? { type: 'execution-denied' } : undefined;
}
