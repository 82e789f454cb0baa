import type { StreamResponse, TaskStatus } from 'parley-a2a';
import { isInterrupted, isTerminal } from 'parley-a2a/kit';

/** The name of the member of an event. */
export type StreamEventType = 'task' | 'message' | 'statusUpdate' | 'artifactUpdate';

/** An event of one type. */
export type StreamEventOf<Type extends StreamEventType> = Extract<StreamResponse, { readonly [Name in Type]: unknown }>;

/** The status in an event. */
export function statusOf(event: StreamResponse): TaskStatus | undefined {
  if (event.task !== undefined) return event.task.status;
  return event.statusUpdate !== undefined ? event.statusUpdate.status : undefined;
}

/** True if no event may follow: a direct message, or a terminal state. */
export function isFinal(event: StreamResponse): boolean {
  const status = statusOf(event);
  return event.message !== undefined || (status !== undefined && isTerminal(status.state));
}

/** True if the task waits for its caller, which ends a turn. */
export function isWaiting(event: StreamResponse): boolean {
  const status = statusOf(event);
  return status !== undefined && isInterrupted(status.state);
}

/** The ids that an event names. */
export function idsOf(event: StreamResponse): { readonly taskId?: string; readonly contextId?: string } {
  const { taskId, contextId } = namedBy(event);
  return { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
}

function namedBy(event: StreamResponse): {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
} {
  if (event.task !== undefined) return { taskId: event.task.id, contextId: event.task.contextId };
  if (event.message !== undefined) return event.message;
  return event.statusUpdate !== undefined ? event.statusUpdate : event.artifactUpdate;
}

/** A short text for an event, for errors. */
export function describeEvent(event: unknown): string {
  if (typeof event !== 'object' || event === null) return String(event);
  const [type = 'nothing', ...others] = Object.keys(event);
  if (others.length > 0) return `an object with ${[type, ...others].join(', ')}`;
  const { status, artifact } = ((event as Record<string, unknown>)[type] ?? {}) as {
    readonly status?: { readonly state?: unknown };
    readonly artifact?: { readonly artifactId?: unknown };
  };
  if (status?.state !== undefined) return `${type} ${String(status.state)}`;
  return artifact?.artifactId === undefined ? type : `${type} ${String(artifact.artifactId)}`;
}
