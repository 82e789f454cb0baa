import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { connectionFault } from './connection-fault.js';
import { tryJson } from './received-answer.js';

/** What an event stream is read from. */
export interface EventReaderOptions<Event> {
  readonly body: ReadableStream<Uint8Array>;
  /** The longest event, in characters. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  /** What a frame holds; undefined for one to be skipped. What it throws is thrown once the events before it have been read. */
  readonly decode: (frame: EventSourceMessage) => Event | undefined;
}

/**
 * The events of an event stream, those of one chunk in one list; a chunk without a whole frame, such as a comment, gives an empty one,
 * as a sign of life. Reads the next chunk only when it is asked for more. A last frame whose empty line is missing counts
 * if it holds JSON.
 * @throws ConnectionError where the stream breaks off, A2AError where an event is too long, or the reason of the signal.
 */
export async function* readEvents<Event>({
  body,
  limit,
  signal,
  decode,
}: EventReaderOptions<Event>): AsyncGenerator<readonly Event[], undefined> {
  let events: Event[] = [];
  let fault: { readonly error: unknown } | undefined;
  let isLast = false;
  const parser = createParser({
    onEvent: (frame) => {
      if (fault !== undefined || (isLast && tryJson(frame.data) === undefined)) return;
      try {
        if (frame.data.length > limit) throw tooLong(limit);
        const event = decode(frame);
        if (event !== undefined) events.push(event);
      } catch (error) {
        fault = { error };
      }
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') fault ??= { error: tooLong(limit) };
    },
    maxBufferSize: limit,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      let chunk: Awaited<ReturnType<typeof reader.read>>;
      try {
        chunk = await reader.read();
      } catch (cause) {
        signal?.throwIfAborted();
        throw new ConnectionError(`The stream broke off: ${connectionFault(cause).reason}`, { sent: true, cause });
      }
      const { done, value } = chunk;
      // Some servers leave the last empty line out; what was cut short is no JSON.
      isLast = done;
      parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
      const arrived = events;
      events = [];
      if (arrived.length > 0 || !(done || fault !== undefined)) yield arrived;
      if (fault !== undefined) throw fault.error;
      if (done) return undefined;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function tooLong(limit: number): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `An event is longer than ${limit} characters`);
}
