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
  /** Set if the event replaces all that the stream has shown of the task: the log no longer reaches back so far. */
  readonly reset?: true;
}

/** The items of one stream. A source may give those that are there already without a promise for each. */
export interface ItemSource extends AsyncIterator<StreamItem, undefined> {
  /** The next item, if it is there already and no `next` waits. Otherwise `next` gives it, an error or the end. */
  ready?(): StreamItem | undefined;
}
