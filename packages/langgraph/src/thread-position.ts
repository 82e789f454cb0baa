import type { JsonValue } from 'parley-a2a';
import { checkpointerOf, type GraphSnapshot, type RunnableGraph } from './runnable-graph.js';

/** The position of a thread before a turn. If a repeated turn finds another position, its input was applied already. */
export interface ThreadPosition {
  /** Absent for a new thread. */
  readonly checkpointId?: string;
  /** Number of answers to interrupts that nodes of the next step have got. */
  readonly answers: number;
}

/** Reads the position of a thread. */
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
/** Ids of nodes are UUIDs. LangGraph first writes an answer under the id of its interrupt, which has no hyphens. */
const NODE = /^[\da-f]{8}-/;
const NO_NODE = '00000000-0000-0000-0000-000000000000';

/** True if a stored checkpoint of a turn has the same position. */
export function isAt(position: ThreadPosition, saved: JsonValue | undefined): boolean {
  if (typeof saved !== 'object' || saved === null) return true;
  const { checkpointId, answers } = saved as Partial<ThreadPosition>;
  return checkpointId === position.checkpointId && answers === position.answers;
}
