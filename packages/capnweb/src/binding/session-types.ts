import type { StreamResponse } from 'parley-a2a';

/** One event of a feed. */
export interface FeedItem {
  /** The number of the event in the log of its task. 0 for a direct message. */
  readonly seq: number;
  readonly event: StreamResponse;
  /** True if earlier events are no longer in the log, so that the feed begins with the current task. */
  readonly reset?: true;
}

/** The events of a stream with flow control, and their end. */
export interface Feed<Subscription> {
  readonly events: ReadableStream<FeedItem>;
  readonly subscription: Subscription;
}
