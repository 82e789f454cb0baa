import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

/** Handles a web request. */
export type WebHandler = (request: Request) => Promise<Response>;

/** Makes a Node.js request listener from a web handler. A closed connection aborts the signal. */
export function nodeListener(handle: WebHandler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(handle, request, response).catch(() => {
      // The error may contain an address or a text of the agent, so it is not sent.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
}

async function answer(handle: WebHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const given: [string, string][] = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const answered = await handle(
    new Request(`http://localhost${pathOf(request.url)}`, {
      method,
      headers: given,
      signal: gone.signal,
      ...(hasBody && { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' }),
    } as RequestInit),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) response.end();
  else {
    response.flushHeaders();
    await pipeline(Readable.fromWeb(answered.body as ReadableStream), response);
  }
}

/** Other forms of a target would address another host. */
function pathOf(target = '/'): string {
  return target.startsWith('/') ? target : '/';
}
