import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import { FetchExchangeRequest } from './fetch-exchange-request.js';

/** An exchange as a web handler: for Hono, Next.js, Workers, Bun, Deno, and tests without sockets. */
export function toFetch(exchange: Exchange): (request: Request) => Promise<Response> {
  return async (request) => {
    const answer = await exchange(new FetchExchangeRequest(request));
    return new Response(request.method === 'HEAD' ? null : bodyOf(answer), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

function bodyOf({ body, status }: ExchangeResponse): string | Uint8Array<ArrayBuffer> | ReadableStream | null {
  if (body === undefined || status === 204 || status === 304) return null;
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : streamOf(body);
}

const encoder = new TextEncoder();

/** Pulls one string when the reader wants one, and lets go of the frames when it cancels. */
function streamOf(frames: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = frames[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(encoder.encode(next.value));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
