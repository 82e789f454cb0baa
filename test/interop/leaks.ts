import { LEAKS } from './scenarios.js';

/**
 * The first internal text in an answer: a stack, a path, a driver, the text of a JavaScript error. `undefined` if there
 * is none.
 */
export function leakIn(text: string): string | undefined {
  for (const leak of LEAKS) {
    const found = leak.exec(text);
    if (found !== null) return `${leak}: ${text.slice(Math.max(0, found.index - 40), found.index + 80)}`;
  }
  return undefined;
}

/** A `fetch` that reads every error answer, also the ones inside streams, and collects what leaks. */
export function watchfulFetch(leaks: string[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const decoder = new TextDecoder();
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        const text = decoder.decode(chunk, { stream: true });
        const leak = response.status >= 400 || text.includes('"error"') ? leakIn(text) : undefined;
        if (leak !== undefined) leaks.push(`${response.status} ${response.url} ${leak}`);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(watch), { status, statusText, headers });
  };
}
