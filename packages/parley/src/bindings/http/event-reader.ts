import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { connectionFault } from './connection-fault.js';
import { tryJson } from './received-answer.js';

/** What an event stream is read from. */
export interface EventReaderOptions {
  readonly body: ReadableStream<Uint8Array>;
  /** The longest event, in characters. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The frames of an event stream, those of one chunk in one list; a chunk without a whole frame, such as a comment, gives an empty one,
 * as a sign of life. Reads the next chunk only when it is asked for more. A last frame whose empty line is missing counts
 * if it holds JSON.
 * @throws ConnectionError where the stream breaks off, A2AError where an event is too long, or the reason of the signal.
 */
export async function* readEvents({
  body,
  limit,
  signal,
}: EventReaderOptions): AsyncGenerator<readonly EventSourceMessage[], void> {
  let frames: EventSourceMessage[] = [];
  let fault: A2AError | undefined;
  const parser = createParser({
    onEvent: (frame) => {
      if (frame.data.length > limit) fault = tooLong(limit);
      if (fault === undefined) frames.push(frame);
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') fault = tooLong(limit);
    },
    maxBufferSize: limit,
  });
  const take = (): readonly EventSourceMessage[] => {
    const taken = frames;
    frames = [];
    return taken;
  };
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await nextChunk(reader, signal);
      if (done) {
        // Some servers leave the last empty line out; what was cut short is no JSON.
        parser.feed(`${decoder.decode()}\n\n`);
        const last = take().filter(({ data }) => tryJson(data) !== undefined);
        if (last.length > 0) yield last;
        return;
      }
      parser.feed(decoder.decode(value, { stream: true }));
      yield take();
      if (fault !== undefined) throw fault;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function tooLong(limit: number): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `An event is longer than ${limit} characters`);
}

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal | undefined) {
  try {
    return await reader.read();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ConnectionError(`The stream broke off: ${connectionFault(cause).reason}`, { sent: true, cause });
  }
}
