import type { ToolCallPart, ToolResultPart } from 'ai';
import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Part } from '../../model/part.js';
import type { ToolCall } from '../../tools/tool.js';

/** Calls that a model made at once, and their results in the same order. */
export interface RecordedStep {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultPart[];
}

/** The calls of a turn in their present states, by their ids. */
export type CurrentCalls = ReadonlyMap<string, Pick<ToolCall, 'state' | 'output' | 'failure'>>;

/** The calls to read from the records. */
export interface StepOptions {
  readonly current?: CurrentCalls;
  /** `current`: the calls of the turn only. `earlier`: the others. Default: all. */
  readonly only?: 'current' | 'earlier' | undefined;
}

/**
 * Reads the steps of a model from the parts of the artifact that records the calls of tools. A call that has not
 * finished is left out: models refuse a conversation with such a call.
 */
export function recordedSteps(
  parts: readonly Part[],
  { current = new Map(), only }: StepOptions = {},
): readonly RecordedStep[] {
  const records = parts
    .flatMap(recordIn)
    .filter(({ id }) => only === undefined || current.has(id) === (only === 'current'));
  const results = new Map<string, ToolResultPart['output']>();
  for (const { id, outcome } of records) if (outcome !== undefined) results.set(id, outcome);
  for (const [id, { state, output, failure }] of current) {
    const outcome = outcomeOf(state, { output, failure });
    if (outcome !== undefined) results.set(id, outcome);
  }
  const steps: { calls: ToolCallPart[]; results: ToolResultPart[] }[] = [];
  const seen = new Set<string>();
  let isOpen = false;
  for (const { id, tool, input, outcome } of records) {
    const output = results.get(id);
    if (!seen.has(id) && output !== undefined) {
      seen.add(id);
      if (!isOpen) steps.push({ calls: [], results: [] });
      isOpen = true;
      steps.at(-1)?.calls.push({ type: 'tool-call', toolCallId: id, toolName: modelName(tool), input });
      steps.at(-1)?.results.push({ type: 'tool-result', toolCallId: id, toolName: modelName(tool), output });
    }
    // The calls after an outcome belong to the next step of the model.
    if (outcome !== undefined) isOpen = false;
  }
  return steps;
}

/** The name of a tool as models take it: letters, digits, `_` and `-`. */
export function modelName(tool: string): string {
  return tool.replace(/[^\w-]/g, '_');
}

interface Recorded {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly outcome: ToolResultPart['output'] | undefined;
}

function recordIn(part: Part): Recorded[] {
  if (!('data' in part) || !isObject(part.data) || !isObject(part.data.toolCall)) return [];
  const { id, tool, state, input = {}, output, failure } = part.data.toolCall as JsonObject;
  if (typeof id !== 'string' || typeof tool !== 'string') return [];
  return [{ id, tool, input, outcome: outcomeOf(state, { output, failure }) }];
}

function outcomeOf(
  state: unknown,
  { output = null, failure }: { readonly output: JsonValue | undefined; readonly failure: unknown },
): ToolResultPart['output'] | undefined {
  // The types of JSON of both packages differ in `readonly` only.
  if (state === 'succeeded') return { type: 'json', value: output as never };
  const message = isObject(failure) && typeof failure.message === 'string' ? failure.message : undefined;
  if (state === 'failed') return { type: 'error-text', value: message ?? 'The tool failed.' };
  return state === 'refused'
    ? { type: 'execution-denied', ...(message !== undefined && { reason: message }) }
    : undefined;
}
