import type { StreamResponse } from '../model/stream-response.js';

/** One event of a stream, with its sequence number in the log of the task. */
export interface StreamItem {
  readonly event: StreamResponse;
  /** Sequence number in the log of the task. Absent for a direct message. */
  readonly seq?: number;
  /** The event as JSON of 1.0, if it was already created. */
  readonly text?: string;
  /** True if the stream ends with this event, and the event alone does not show it. */
  readonly last?: boolean;
  /**
   * Set if the event replaces everything that the stream has sent about the task: the log no longer has the older
   * records.
   */
  readonly reset?: true;
}

/** The items of one stream. A source may return available items without a promise for each. */
export interface ItemSource extends AsyncIterator<StreamItem, undefined> {
  /**
   * Returns the next item, if it is available and no `next` waits. Otherwise `next` returns it, an error or the end.
   */
  ready?(): StreamItem | undefined;
}
