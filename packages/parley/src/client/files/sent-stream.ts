/** Returns a copy of the stream that calls functions with its chunks and with the error that ends it. */
export function observeStream(
  stream: ReadableStream<Uint8Array>,
  { take, failed }: { readonly take: (chunk: Uint8Array) => void; readonly failed: (error: unknown) => void },
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return;
          }
          take(value);
          controller.enqueue(value);
        } catch (error) {
          failed(error);
          reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

let sendsStreams: boolean | undefined;

/** True if requests can have streams as bodies. Other hosts make a text of a stream, and never read `duplex`. */
export function canSendStreams(): boolean {
  if (sendsStreams !== undefined) return sendsStreams;
  let hasDuplex = false;
  const init = {
    method: 'POST',
    body: new ReadableStream(),
    get duplex() {
      hasDuplex = true;
      return 'half';
    },
  };
  const { headers } = new Request('https://host.invalid', init as RequestInit);
  // Browsers send streams over HTTP/2 only, and the client does not know the version before it sends.
  const isBrowser = 'document' in globalThis || 'WorkerGlobalScope' in globalThis;
  sendsStreams = hasDuplex && !headers.has('content-type') && !isBrowser;
  return sendsStreams;
}
