import type { StreamResponse } from '../model/stream-response.js';

/** One event of a stream, with its place in the task's log where it has one. */
export interface StreamItem {
  readonly event: StreamResponse;
  /** Sequence number in the task's log; absent for a direct message. */
  readonly seq?: number;
  /** The event as v1.0 JSON, if somebody made it already. */
  readonly text?: string;
  /** Whether the stream ends with this event, where it is not plain from the event itself. */
  readonly last?: boolean;
}
