import type { OpenedStream, ReceivedEvent } from '../../client/client-transport.js';
import type { StreamResponse } from '../../model/stream-response.js';
import { EventReader } from './event-reader.js';
import { type HttpCaller, readAnswer } from './http-caller.js';
import { EVENT_STREAM_TYPE, essence } from './media-type.js';

/** A stream as it comes over HTTP. */
export interface ReceivedStream {
  readonly response: Response;
  readonly caller: HttpCaller;
  readonly signal: AbortSignal | undefined;
  /** Told that the stream has begun. */
  readonly opened: (() => void) | undefined;
  /** The event that a frame or a whole body holds; undefined for one to be skipped. Throws what an error frame says. */
  decode(text: string): StreamResponse | undefined;
}

const NOTHING_MORE: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
const ended: OpenedStream['events'] = { next: () => Promise.resolve(NOTHING_MORE) };

/**
 * The answer to a streaming call, once its first events are there; one that is no event stream holds a single event. Throws what the
 * agent says in their place.
 */
export async function openedStream({
  response,
  caller,
  signal,
  opened,
  decode,
}: ReceivedStream): Promise<OpenedStream> {
  const { body } = response;
  if (body === null || essence(response.headers.get('content-type') ?? undefined) !== EVENT_STREAM_TYPE) {
    const event = decode(await readAnswer(response, { limit: caller.answerBytes, signal }));
    const value = event === undefined ? [] : [{ event }];
    return { first: { value, done: false }, events: ended };
  }
  opened?.();
  const events = new EventReader<ReceivedEvent>({
    body,
    limit: caller.eventBytes,
    signal,
    decode: ({ data, id }) => {
      const event = decode(data);
      if (event === undefined) return undefined;
      return id === undefined ? { event } : { event, id };
    },
  });
  return { first: await events.next(), events };
}
