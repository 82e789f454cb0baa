import type { ModelMessage, ToolResultPart } from 'ai';
import { TOOLS_ARTIFACT } from 'parley-a2a/kit';
import type { TimedTurn } from './from-stream-text.js';
import { type PresentCalls, recordedSteps } from './recorded-tools.js';
import { type SeenResult, ToolRecorder } from './tool-recorder.js';

/** A turn whose earlier attempt ended within a step. */
interface InterruptedTurn extends Pick<TimedTurn, 'context' | 'events' | 'run'> {
  /** The messages of that step. */
  readonly messages: readonly ModelMessage[];
  /** False if the task does not record the calls of the AI SDK. */
  readonly isOn: boolean;
}

/**
 * The calls of the interrupted step with their results, as messages for the next step. A call without a result has
 * failed: it may have had its effect, so it is not repeated.
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

/** The results that the model has got, by the ids of the calls. */
function resultsIn(messages: readonly ModelMessage[]): ReadonlyMap<string, SeenResult> {
  const found = new Map<string, SeenResult>();
  for (const { role, content } of messages) {
    if (role !== 'tool') continue;
    for (const part of content) if (part.type === 'tool-result') found.set(part.toolCallId, resultOf(part.output));
  }
  return found;
}

/** The text of an error is for the model only. */
function resultOf(output: ToolResultPart['output']): SeenResult {
  switch (output.type) {
    case 'execution-denied':
      return { reason: 'refused' };
    case 'error-text':
    case 'error-json':
      return { reason: 'threw' };
    case 'text':
    case 'json':
    case 'content':
      return { output: output.value };
  }
}
