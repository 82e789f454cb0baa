import { type GraphSnapshot, type GraphTask, unfinishedTasks } from './runnable-graph.js';

/**
 * True if the text is from a node that will run again, because its step has no checkpoint yet. `step` is the namespace
 * of LangGraph: `node:task` for each graph from the outermost, joined by `|`.
 */
export function isWrittenAgain(step: string, snapshot: GraphSnapshot): boolean {
  const ids = step.split('|').flatMap((segment) => {
    const at = segment.lastIndexOf(':');
    return at < 0 ? [] : [segment.slice(at + 1)];
  });
  return isAgain(ids, snapshot);
}

function isAgain([first, ...inner]: readonly string[], snapshot: GraphSnapshot): boolean {
  const task = unfinishedTasks(snapshot).find(({ id }) => id === first);
  if (task === undefined) return false;
  const nested = snapshotOf(task);
  return inner.length === 0 || nested === undefined ? true : isAgain(inner, nested);
}

/** The state of the subgraph of a node, if it has checkpoints of its own. */
function snapshotOf({ state }: GraphTask): GraphSnapshot | undefined {
  return state !== undefined && 'tasks' in state ? (state as GraphSnapshot) : undefined;
}
