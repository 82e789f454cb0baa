import type { Fetch } from 'parley-a2a/client';
import { redactor } from 'parley-a2a/credentials';
import type { Output } from '../output/output.js';
import { shownHeaders } from '../output/shown-headers.js';

/** The options of `tracedFetch`. */
interface WireTraceOptions {
  readonly output: Output;
  /** Returns the values to redact. Called for each request, because the list may grow. */
  readonly secrets: () => readonly string[];
  /** Default: `fetch` of the platform. */
  readonly send?: Fetch;
}

/** Makes a `fetch` that prints requests, responses and events to stderr, without credentials. */
export function tracedFetch({ output, secrets, send = fetch }: WireTraceOptions): Fetch {
  let requests = 0;
  return async (url, init) => {
    const shown = redactor(secrets());
    requests++;
    const number = requests;
    const began = performance.now();
    const after = () => `${Math.round(performance.now() - began)} ms`;
    output.note(shown(`> #${number} ${init.method ?? 'GET'} ${url}`));
    writeHeaders(output, '>', new Headers(init.headers), shown);
    if (typeof init.body === 'string') output.note(shown(`> ${init.body}`));
    try {
      const response = await send(url, init);
      output.note(`< #${number} ${response.status} after ${after()}`);
      writeHeaders(output, '<', response.headers, shown);
      if (!isText(response.headers)) {
        output.note(`< #${number} (the body is not shown)`);
        return response;
      }
      return traceResponse(response, (text) => output.note(shown(`< #${number} ${text}`)));
    } catch (error) {
      output.note(
        shown(`< #${number} ${String(error instanceof Error ? (error.cause ?? error) : error)} after ${after()}`),
      );
      throw error;
    }
  };
}

/** True for the content types of the protocol. Files are not printed. */
function isText(headers: Headers): boolean {
  const type = headers.get('content-type') ?? '';
  const isFile = /^attachment/i.test(headers.get('content-disposition') ?? '') || headers.has('content-range');
  return !isFile && (type === '' || /^text\/|[/+](?:json|xml)\b/i.test(type));
}

function writeHeaders(output: Output, arrow: string, headers: Headers, shown: (text: string) => string): void {
  for (const [name, value] of Object.entries(shownHeaders(headers, shown))) output.note(`${arrow} ${name}: ${value}`);
}

/** Returns a response that prints each line of its body as it is read. */
function traceResponse(response: Response, tell: (text: string) => void): Response {
  if (response.body === null) return response;
  let pending: string[] = [];
  const lines = new TransformStream<string, string>({
    transform: (text, controller) => {
      controller.enqueue(text);
      const [first = '', ...lines] = text.split('\n');
      pending.push(first);
      for (const next of lines) {
        const line = pending.join('');
        if (line.trim() !== '') tell(line);
        pending = [next];
      }
    },
    flush: () => {
      const line = pending.join('');
      if (line !== '') tell(line);
    },
  });
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(lines)
    .pipeThrough(new TextEncoderStream());
  // The body is already decoded here, so these headers no longer describe it.
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  headers.delete('content-encoding');
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}
