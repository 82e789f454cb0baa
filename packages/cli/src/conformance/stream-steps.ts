import type { Part, StreamResponse } from 'parley-a2a';
import { stateOf } from './kit-message.js';

/** What a stream showed. */
export interface StreamSteps {
  readonly events: readonly StreamResponse[];
  /**
   * States, each once in a row, and artifacts (`artifact`, and of further chunks `append` or `last append`), in the order of the
   * stream.
   */
  readonly steps: readonly string[];
  /** The parts of all artifacts, in order. */
  readonly parts: readonly Part[];
}

/** Reads a stream to its end. */
export async function stepsOf(stream: AsyncIterable<StreamResponse>): Promise<StreamSteps> {
  const events: StreamResponse[] = [];
  const steps: string[] = [];
  const parts: Part[] = [];
  for await (const event of stream) {
    events.push(event);
    const step = stepOf(event);
    if ('artifactUpdate' in event || step !== steps.at(-1)) steps.push(step);
    if ('artifactUpdate' in event) parts.push(...event.artifactUpdate.artifact.parts);
  }
  return { events, steps, parts };
}

function stepOf(event: StreamResponse): string {
  if ('message' in event) return 'message';
  if ('task' in event) return stateOf(event.task);
  if ('statusUpdate' in event) return stateOf(event.statusUpdate);
  const { append, lastChunk } = event.artifactUpdate;
  if (append !== true) return 'artifact';
  return lastChunk === true ? 'last append' : 'append';
}

/** What is wrong with how a stream of a task is made up: it begins with the task, and all of its events are of that one. */
export function frameFault([first, ...others]: readonly StreamResponse[]): string | undefined {
  if (first === undefined) return 'the stream is empty';
  if (!('task' in first)) return `the stream begins with ${Object.keys(first)[0]}`;
  const { id, contextId } = first.task;
  for (const event of others) {
    if ('message' in event) return 'a message comes in the stream of a task';
    const ids = 'task' in event ? { taskId: event.task.id, contextId: event.task.contextId } : Object.values(event)[0];
    if (ids.taskId !== id) return `an event of task ${ids.taskId} comes in the stream of ${id}`;
    if (ids.contextId !== contextId) return `an event of context ${ids.contextId} comes in the stream of ${contextId}`;
  }
  return undefined;
}
