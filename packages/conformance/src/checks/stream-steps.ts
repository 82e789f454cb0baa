import { type Part, statusIn } from '../tested-agent.js';
import type { WireStream } from '../wire/agent-wire.js';
import { isJson, itemsOf, type Json, memberOf } from '../wire/json.js';

/** The contents of a stream. */
interface StreamSteps {
  readonly events: readonly Json[];
  /**
   * States and artifacts in order. A state that repeats counts once. An artifact is `artifact`, a further chunk
   * `append`, the last chunk `last append`.
   */
  readonly steps: readonly string[];
  /** Parts of all artifacts, in order. */
  readonly parts: readonly Part[];
  /** True if the agent closed the stream itself. */
  readonly isClosed: boolean;
}

/** Reads a stream to its end. */
export async function stepsOf(opening: Promise<WireStream>): Promise<StreamSteps> {
  const stream = await opening;
  const events: Json[] = [];
  const steps: string[] = [];
  const parts: Part[] = [];
  for await (const event of stream) {
    events.push(event);
    const step = stepOf(event);
    if ('artifactUpdate' in event || step !== steps.at(-1)) steps.push(step);
    const artifact = memberOf(event.artifactUpdate, 'artifact');
    parts.push(...itemsOf(memberOf(artifact, 'parts')).filter(isJson));
  }
  return { events, steps, parts, isClosed: stream.isClosed };
}

function stepOf(event: Json): string {
  if ('message' in event) return 'message';
  const status = memberOf(event.task ?? event.statusUpdate, 'status');
  if (status !== undefined) return statusIn(status).state;
  if (!('artifactUpdate' in event)) return `unknown (${Object.keys(event).join()})`;
  const { append, lastChunk } = isJson(event.artifactUpdate) ? event.artifactUpdate : {};
  if (append !== true) return 'artifact';
  return lastChunk === true ? 'last append' : 'append';
}

/** Returns the id of the task that an event belongs to. */
export function taskIdOf(event: Json): string | undefined {
  const id = memberOf(event.task, 'id') ?? memberOf(event.statusUpdate ?? event.artifactUpdate, 'taskId');
  return typeof id === 'string' ? id : undefined;
}

/** Returns the fault of a task's stream: it has to begin with the task, and all events have to be of that task. */
export function frameFault([first, ...others]: readonly Json[]): string | undefined {
  if (first === undefined) return 'the stream is empty';
  if (!('task' in first)) return `the stream begins with ${Object.keys(first)[0]}`;
  const [id, contextId] = [taskIdOf(first), contextIdOf(first)];
  for (const event of others) {
    if ('message' in event) return 'a message comes in the stream of a task';
    if (taskIdOf(event) !== id) return `an event of task ${taskIdOf(event)} comes in the stream of ${id}`;
    if (contextIdOf(event) !== contextId)
      return `an event of context ${contextIdOf(event)} comes in the stream of ${contextId}`;
  }
  return undefined;
}

function contextIdOf(event: Json): unknown {
  return memberOf(event.task ?? event.statusUpdate ?? event.artifactUpdate, 'contextId');
}
