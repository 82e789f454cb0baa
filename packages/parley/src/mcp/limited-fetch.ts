/** A `fetch` as the SDK calls it. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Ends a response with an error after so many bytes of its body. */
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
    return new Response(response.body.pipeThrough(limit), response);
  };
}
