import type { Clock } from '../runtime/clock.js';

/** Limits of an answer: its bytes, and the time from the request to its last byte. */
export interface BodyBounds {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Sends a request, and limits the time and the bytes of its answer while the caller reads it. The signal for `send`
 * follows that of the caller.
 */
export async function boundedBody(
  { bytes, ms }: BodyBounds,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const end = new AbortController();
  const follow = () => end.abort(signal?.reason);
  if (signal?.aborted === true) follow();
  signal?.addEventListener('abort', follow, { once: true });
  const disarm =
    ms === Number.POSITIVE_INFINITY
      ? () => {}
      : clock.after(ms, () => end.abort(new DOMException('No answer in time', 'TimeoutError')));
  const release = () => {
    disarm();
    signal?.removeEventListener('abort', follow);
  };
  try {
    const response = await send(end.signal);
    if (response.body === null) {
      release();
      return response;
    }
    const { status, statusText, headers } = response;
    return new Response(limitBody(response.body, { bytes, release, end: end.signal }), { status, statusText, headers });
  } catch (error) {
    release();
    throw error;
  }
}

function limitBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { bytes, release, end }: { readonly bytes: number; readonly release: () => void; readonly end: AbortSignal },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  let read = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          read += value?.length ?? 0;
          if (read > bytes) throw new DOMException('The answer is too long', 'QuotaExceededError');
          if (value !== undefined) controller.enqueue(value);
          if (!done) return;
          release();
          controller.close();
        } catch (error) {
          release();
          reader.cancel(error).catch(() => {});
          controller.error(end.aborted ? end.reason : error);
        }
      },
      cancel: (reason) => {
        release();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
