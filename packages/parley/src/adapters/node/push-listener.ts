import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PushReceiver } from '../../push/receiver/push-receiver.js';

/** Answers requests of `node:http`, and of frameworks on it, such as Express. */
export type PushListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes a listener. Use it before body parsers, because a signature covers the raw bytes of the body. */
export function pushListener(receiver: PushReceiver): PushListener {
  return (request, response) => {
    const { method = '', headers } = request;
    const header = (name: string): string | undefined => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    const body = bodyOf(request);
    receiver.answer({ method, header, body }).then(
      ({ status, headers: answered, body: text }) => {
        // The rest of a refused body is not read.
        const isWhole = request.complete || status < 300;
        response.writeHead(status, isWhole ? answered : { ...answered, connection: 'close' }).end(text);
      },
      () => response.destroy(),
    );
  };
}

/** The bytes of the request, or those that a raw body parser has kept. */
function bodyOf(request: IncomingMessage & { readonly body?: unknown }): AsyncIterator<Uint8Array> {
  const { body } = request;
  if (body instanceof Uint8Array || typeof body === 'string')
    return oneChunk(typeof body === 'string' ? new TextEncoder().encode(body) : body);
  return request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
}

async function* oneChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
