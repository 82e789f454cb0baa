import { type EventFrame, FrameParser } from 'parley-a2a/kit';

/** A `fetch` as the SDK calls it. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Wraps a `fetch` so that a response fails after `mostBytes` bytes of its body. */
export function limitedFetch(send: McpFetch, mostBytes: number): McpFetch {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.body === null) return response;
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength;
        if (bytes > mostBytes) controller.error(new Error(`The answer has more than ${mostBytes} bytes`));
        else controller.enqueue(chunk);
      },
    });
    const body = response.body.pipeThrough(limit);
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
    return new Response(isStream ? body.pipeThrough(framesOnly()) : body, response);
  };
}

/**
 * Passes on the frames of an event stream, without comments and unknown lines. The parser of the SDK creates an error
 * with a stack trace for each such line, so a small answer could block the process.
 */
function framesOnly(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const parser = new FrameParser();
  const pass = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    parser.feed(text);
    let frames = '';
    for (let frame = parser.next(); frame !== undefined; frame = parser.next()) frames += frameText(frame);
    if (frames !== '') controller.enqueue(encoder.encode(frames));
  };
  return new TransformStream({
    transform: (chunk, controller) => pass(decoder.decode(chunk, { stream: true }), controller),
    flush: (controller) => pass(decoder.decode(), controller),
  });
}

function frameText({ data, event, id, retry }: EventFrame): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  if (event !== undefined) lines.push(`event: ${event}\n`);
  if (id !== undefined) lines.push(`id: ${id}\n`);
  if (retry !== undefined) lines.push(`retry: ${retry}\n`);
  return `${lines.join('')}\n`;
}
