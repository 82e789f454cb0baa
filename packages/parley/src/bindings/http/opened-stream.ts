import type { OpenedStream, ReceivedEvent } from '../../client/client-transport.js';
import type { StreamResponse } from '../../model/stream-response.js';
import { EventReader } from './event-reader.js';
import { type HttpCaller, readAnswer } from './http-caller.js';
import { EVENT_STREAM_TYPE, essence } from './media-type.js';
import { strangeAnswer } from './received-answer.js';

/** The answer to a streaming call, and its reader. */
interface ReceivedStream {
  readonly response: Response;
  readonly caller: HttpCaller;
  readonly signal: AbortSignal | undefined;
  /** Called when the stream begins. */
  readonly opened: (() => void) | undefined;
  /** Decodes a frame or a whole body; undefined: it is skipped. Throws the error of an error frame. */
  decode(text: string): StreamResponse | undefined;
}

const NOTHING_MORE: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
const ended: OpenedStream['events'] = { next: () => Promise.resolve(NOTHING_MORE) };

/**
 * Opens the answer to a streaming call, and resolves with its first events. An answer that is no event stream holds a
 * single event. Throws the error that the agent sends in their place.
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
    const event = decode(await readAnswer(response, { limit: caller.answerBytes, items: caller.answerItems, signal }));
    const value = event === undefined ? [] : [{ event }];
    return { first: { value, done: false }, events: ended };
  }
  opened?.();
  const events = new EventReader<ReceivedEvent>({
    body,
    limit: caller.eventBytes,
    items: caller.answerItems,
    turn: caller.turn,
    signal,
    decode: ({ data, id, event: name }) => {
      const event = decode(data);
      if (event === undefined && name === 'error') throw strangeAnswer(response, data);
      if (event === undefined) return undefined;
      return id === undefined ? { event } : { event, id };
    },
  });
  const first = await events.next();
  if (first.done === true && !response.ok) throw strangeAnswer(response, '');
  return { first, events };
}
