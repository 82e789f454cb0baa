import type { OpenedStream, ReceivedEvent } from '../../client/client-transport.js';
import type { StreamResponse } from '../../model/stream-response.js';
import { readEvents } from './event-reader.js';
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

/** The answer to a streaming call, once its first events are there. Throws what the agent says in their place. */
export async function openedStream(stream: ReceivedStream): Promise<OpenedStream> {
  const events = receivedEvents(stream);
  return { first: await events.next(), events };
}

/** One that is no event stream holds a single event or an error. */
async function* receivedEvents({
  response,
  caller,
  signal,
  opened,
  decode,
}: ReceivedStream): AsyncGenerator<readonly ReceivedEvent[], undefined> {
  const { body } = response;
  if (body === null || essence(response.headers.get('content-type') ?? undefined) !== EVENT_STREAM_TYPE) {
    const event = decode(await readAnswer(response, { limit: caller.answerBytes, signal }));
    if (event !== undefined) yield [{ event }];
    return;
  }
  opened?.();
  for await (const frames of readEvents({ body, limit: caller.eventBytes, signal })) {
    const events: ReceivedEvent[] = [];
    try {
      for (const { data, id } of frames) {
        const event = decode(data);
        if (event !== undefined) events.push(id === undefined ? { event } : { event, id });
      }
    } catch (error) {
      // What came before it counts.
      if (events.length > 0) yield events;
      throw error;
    }
    yield events;
  }
}
