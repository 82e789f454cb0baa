import type { ModelMessage, ToolResultPart } from 'ai';
import type { JsonValue } from '../../model/json.js';
import { TOOLS_ARTIFACT } from '../../tools/tool-records.js';
import type { TimedTurn } from './from-stream-text.js';
import { type PresentCalls, recordedSteps } from './recorded-tools.js';
import { ToolRecorder } from './tool-recorder.js';

/** A turn whose earlier attempt ended within a step. */
interface InterruptedTurn extends Pick<TimedTurn, 'context' | 'events' | 'clock' | 'run'> {
  /** The messages of that step. */
  readonly messages: readonly ModelMessage[];
  /** False if the task does not record the calls of the AI SDK. */
  readonly isOn: boolean;
}

/**
 * The calls of the step that was under way, with their results, as messages for the next step. A call without a result
 * has failed: it may have had its effect, so it does not run again.
 */
export async function stepUnderWay({ run, messages, isOn, ...turn }: InterruptedTurn): Promise<ModelMessage[]> {
  const seen = resultsIn(messages);
  const present: PresentCalls =
    run === undefined
      ? await new ToolRecorder({ ...turn, hasRun: false, isOn, isResumed: true }).endInterrupted(seen)
      : new Map(run.calls.map((call) => [call.id, call]));
  const records = turn.context.task?.artifacts?.find(({ artifactId }) => artifactId === TOOLS_ARTIFACT.artifactId);
  const isRead = (id: string) => present.has(id) && !seen.has(id);
  return recordedSteps(records?.parts ?? [], { present, isRead }).flatMap(({ calls, results }): ModelMessage[] => [
    { role: 'assistant', content: [...calls] },
    { role: 'tool', content: [...results] },
  ]);
}

/** The results of calls that the model has seen, by the ids of the calls. */
function resultsIn(messages: readonly ModelMessage[]): ReadonlyMap<string, JsonValue> {
  const found = new Map<string, JsonValue>();
  for (const { role, content } of messages) {
    if (role !== 'tool') continue;
    for (const part of content) if (part.type === 'tool-result') found.set(part.toolCallId, outputValue(part.output));
  }
  return found;
}

function outputValue(output: ToolResultPart['output']): JsonValue {
  return 'value' in output ? (output.value as JsonValue) : null;
}
