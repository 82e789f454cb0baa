/** The part of a compiled LangGraph graph that an agent uses. */
export interface RunnableGraph {
  readonly checkpointer?: unknown;
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: { readonly subgraphs?: boolean }): Promise<GraphSnapshot>;
}

/** The state of a thread. */
export interface GraphSnapshot {
  /** The nodes that run next. */
  readonly next: readonly string[];
  readonly tasks: readonly GraphTask[];
  readonly config: { readonly configurable?: Readonly<Record<string, unknown>> };
}

/** A node of the next step. */
export interface GraphTask {
  readonly id: string;
  readonly name: string;
  readonly interrupts: readonly GraphInterrupt[];
  /** The snapshot of a subgraph that the node runs, or only its config. */
  readonly state?: object;
  /** Present if the node has run, and other nodes of its step have not. */
  readonly result?: unknown;
}

/** A question of a node. */
export interface GraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
  readonly response_schema?: unknown;
}

/** A write of a step that has not ended: the id of its task, the channel and the value. */
type PendingWrite = readonly [taskId: string, channel: string, value: unknown];

/** The part of a checkpointer that an agent uses. */
interface Checkpointer {
  getTuple(config: object): Promise<{ readonly pendingWrites?: readonly PendingWrite[] } | undefined>;
}

/** The checkpointer of a graph. `undefined` for a graph without one. */
export function checkpointerOf({ checkpointer }: RunnableGraph): Checkpointer | undefined {
  return typeof checkpointer === 'object' && checkpointer !== null ? (checkpointer as Checkpointer) : undefined;
}

/** The nodes of the next step that have not run. `next` lacks nodes that have got an answer and ask again. */
export function unfinishedTasks({ tasks, next }: GraphSnapshot): readonly GraphTask[] {
  return tasks.filter(
    ({ name, result, interrupts }) => result === undefined && (next.includes(name) || interrupts.length > 0),
  );
}

/** The open questions of a thread. A graph that pauses at a node without an interrupt asks by the name of that node. */
export function openInterrupts(snapshot: GraphSnapshot): readonly (GraphInterrupt & { readonly id: string })[] {
  const unfinished = unfinishedTasks(snapshot);
  const asked = unfinished.flatMap(({ interrupts }) =>
    interrupts.flatMap((interrupt) => (interrupt.id === undefined ? [] : [{ ...interrupt, id: interrupt.id }])),
  );
  if (asked.length > 0) return asked;
  return unfinished.map(({ id, name }) => ({
    id: `${PAUSE}${id}`,
    value: `The agent pauses at ${name}. Send a message to go on, or cancel the task.`,
  }));
}

const PAUSE = 'pause:';

/** True for the question of a graph that pauses without an interrupt. */
export function isPause(interruptId: string): boolean {
  return interruptId.startsWith(PAUSE);
}
