import type { StreamResponse } from '../model/stream-response.js';

/** One event of a stream, with its place in the log of the task. */
export interface StreamItem {
  readonly event: StreamResponse;
  /** Sequence number in the log of the task. Absent for a direct message. */
  readonly seq?: number;
  /** The event as JSON of 1.0, if that exists already. */
  readonly text?: string;
  /** True if the stream ends with this event and the event itself does not tell. */
  readonly last?: boolean;
}
