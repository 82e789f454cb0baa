import type { ToolApprovalRequest, ToolApprovalResponse, ToolCallPart, ToolResultPart } from 'ai';
import type { JsonObject, JsonValue, Part } from 'parley-a2a';
import { isObject } from 'parley-a2a/kit';
import type { ToolCall } from 'parley-a2a/tools';
import { MODEL_OUTPUT_EXTENSION } from './model-output.js';
import { requestIn, type SavedRequest } from './sdk-approvals.js';

/** Calls that a model made in one step, and their results in the same order. */
export interface RecordedStep {
  readonly calls: readonly (ToolCallPart | ToolApprovalRequest)[];
  readonly results: readonly (ToolResultPart | ToolApprovalResponse)[];
}

/** Calls in their current states, by their ids. */
export type PresentCalls = ReadonlyMap<string, Pick<ToolCall, 'state' | 'output' | 'failure'>>;

/** The calls to read from the records. */
interface StepOptions {
  /** The states of calls that have changed since their records. */
  readonly present?: PresentCalls;
  /** Chooses calls by their ids. Default: all. */
  readonly isRead?: (id: string) => boolean;
  /** True: approved calls come with their approvals, and the AI SDK runs them. Default: they are left out. */
  readonly withApproved?: boolean;
}

/**
 * Reads the steps of a model from the artifact that records the tool calls. Unfinished calls are left out, because
 * models refuse a conversation with such a call.
 */
export function recordedSteps(
  parts: readonly Part[],
  { present = new Map(), isRead = () => true, withApproved = false }: StepOptions = {},
): readonly RecordedStep[] {
  const records = parts.flatMap(recordIn).filter(({ id }) => isRead(id));
  const results = new Map<string, ToolResultPart['output']>();
  const requests = new Map<string, SavedRequest>();
  for (const { id, outcome, request } of records) {
    if (outcome !== undefined) results.set(id, outcome);
    if (request !== undefined) requests.set(id, request);
  }
  for (const [id, { state, output, failure }] of present) {
    const outcome = outcomeOf(state, { output, failure });
    if (outcome !== undefined) results.set(id, outcome);
  }
  const steps: { calls: RecordedStep['calls'][number][]; results: RecordedStep['results'][number][] }[] = [];
  const seen = new Set<string>();
  let isOpen = false;
  for (const { id, tool, input, outcome } of records) {
    const output = results.get(id);
    const isApproved = withApproved && output === undefined && present.get(id)?.state === 'approved';
    if (!seen.has(id) && (output !== undefined || isApproved)) {
      seen.add(id);
      if (!isOpen) steps.push({ calls: [], results: [] });
      isOpen = true;
      const { approvalId = id, signature, providerExecuted } = requests.get(id) ?? {};
      const call = { type: 'tool-call', toolCallId: id, toolName: modelName(tool), input } as const;
      const isProviders = isApproved && providerExecuted === true && { providerExecuted: true };
      steps.at(-1)?.calls.push({ ...call, ...isProviders });
      if (output !== undefined) {
        steps.at(-1)?.results.push({ type: 'tool-result', toolCallId: id, toolName: modelName(tool), output });
      } else {
        const signed = signature === undefined ? {} : { signature };
        steps.at(-1)?.calls.push({ type: 'tool-approval-request', approvalId, toolCallId: id, ...signed });
        steps.at(-1)?.results.push({ type: 'tool-approval-response', approvalId, approved: true, ...isProviders });
      }
    }
    // The calls after an outcome belong to the next step of the model.
    if (outcome !== undefined) isOpen = false;
  }
  return steps;
}

/** The name of a tool in the form that models accept: letters, digits, `_` and `-`. */
export function modelName(tool: string): string {
  return tool.replace(/[^\w-]/g, '_');
}

interface Recorded {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly outcome: ToolResultPart['output'] | undefined;
  readonly request: SavedRequest | undefined;
}

function recordIn(part: Part): Recorded[] {
  if (part.data === undefined || !isObject(part.data) || !isObject(part.data.toolCall)) return [];
  const { id, tool, state, input = {}, output, failure } = part.data.toolCall as JsonObject;
  if (typeof id !== 'string' || typeof tool !== 'string') return [];
  const marks = part.metadata?.[MODEL_OUTPUT_EXTENSION];
  const request = requestIn(isObject(marks) ? marks : undefined);
  return [{ id, tool, input, outcome: outcomeOf(state, { output, failure }), request }];
}

function outcomeOf(
  state: unknown,
  { output = null, failure }: { readonly output: JsonValue | undefined; readonly failure: unknown },
): ToolResultPart['output'] | undefined {
  // The JSON types of both packages differ in `readonly` only.
  if (state === 'succeeded') return { type: 'json', value: output as never };
  const message = isObject(failure) && typeof failure.message === 'string' ? failure.message : undefined;
  if (state === 'failed' || state === 'canceled') return { type: 'error-text', value: message ?? 'The tool failed.' };
  return state === 'refused'
    ? { type: 'execution-denied', ...(message !== undefined && { reason: message }) }
    : undefined;
}
