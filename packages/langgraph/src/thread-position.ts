import type { JsonValue } from 'parley-a2a';
import { checkpointerOf, type GraphSnapshot, type RunnableGraph } from './runnable-graph.js';

/** The place of a thread before a turn gave its input: a turn that runs again at another place has given it. */
export interface ThreadPosition {
  /** Absent for a new thread. */
  readonly checkpointId?: string;
  /** Answers to interrupts that nodes of the next step have taken. */
  readonly answers: number;
}

/** The place of a thread. */
export async function positionOf(
  graph: RunnableGraph,
  config: object,
  { config: { configurable } }: GraphSnapshot,
): Promise<ThreadPosition> {
  const writes = (await checkpointerOf(graph)?.getTuple(config))?.pendingWrites ?? [];
  const answers = writes
    .filter(([taskId, channel]) => channel === RESUME && NODE.test(taskId) && taskId !== NO_NODE)
    .reduce((sum, [, , values]) => sum + (Array.isArray(values) ? values.length : 1), 0);
  const { checkpoint_id: id } = configurable ?? {};
  return { ...(typeof id === 'string' && { checkpointId: id }), answers };
}

/** The channel of answers to interrupts. */
const RESUME = '__resume__';
/** The ids of nodes are UUIDs. LangGraph notes an answer under the id of its interrupt first, which has no hyphens. */
const NODE = /^[\da-f]{8}-/;
const NO_NODE = '00000000-0000-0000-0000-000000000000';

/** True if a saved checkpoint of a turn says the same place. */
export function isAt(position: ThreadPosition, saved: JsonValue | undefined): boolean {
  if (typeof saved !== 'object' || saved === null) return true;
  const { checkpointId, answers } = saved as Partial<ThreadPosition>;
  return checkpointId === position.checkpointId && answers === position.answers;
}
