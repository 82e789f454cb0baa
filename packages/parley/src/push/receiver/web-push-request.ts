import type { PushReceiver } from './push-receiver.js';

/** Answers a web request, for hosts with `Request` and `Response`. */
export async function answerWebRequest(receiver: PushReceiver, request: Request): Promise<Response> {
  const { method, headers, url } = request;
  const {
    status,
    headers: answered,
    body,
  } = await receiver.answer({
    method,
    header: (name) => headers.get(name) ?? (name === 'host' ? new URL(url).host : undefined),
    body: chunksOf(request.body),
  });
  return new Response(body === '' ? null : body, { status, headers: answered });
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
