import { type DocumentSource, webUrl } from '../../client/document-source.js';
import { A2AError } from '../../errors/a2a-error.js';
import { AgentCardError } from '../../errors/agent-card-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { CARD_BYTES, discard, type HttpCaller, type HttpRequest, readAnswer, sendRequest } from './http-caller.js';

const MOST_REDIRECTS = 3;

/**
 * Fetches documents of at most 1 MiB, over at most three redirects, from http and https urls only. The headers go to
 * the origin of the url, and not to the target of a redirect.
 */
export function documentSource(caller: HttpCaller): DocumentSource {
  return async ({ url, headers, signal }) => {
    const { origin } = new URL(url);
    let target = documentUrl(url);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const own = new URL(target).origin === origin ? headers : {};
      const request = { url: target, method: 'GET', headers: own, signal, redirects: 'wanted' } as const;
      const response = await sendRequest(caller, request).catch((error: unknown) => told(error, caller, request));
      const location = response.headers.get('location');
      if (response.status === 304 || response.status < 300 || response.status > 399 || location === null) {
        const text = await readAnswer(response, { limit: Math.min(caller.answerBytes, CARD_BYTES), signal });
        return { status: response.status, headers: response.headers, text };
      }
      discard(response);
      target = documentUrl(location, target);
    }
    throw new A2AError('INVALID_AGENT_RESPONSE', `The agent card is redirected more than ${MOST_REDIRECTS} times`);
  };
}

/** The same error, or one that says that the port speaks TLS: a wrong scheme is the most common mistake. */
async function told(error: unknown, { request }: HttpCaller, { url, signal }: HttpRequest): Promise<never> {
  if (error instanceof ConnectionError && error.cause instanceof Error && error.cause.cause !== undefined) {
    const { sent, cause } = error;
    const { wantsTls } = await import('./connection-reasons.js');
    if (await wantsTls(url, { cause, request, signal }))
      throw new ConnectionError(`${new URL(url).origin} speaks TLS: use https instead of http`, { sent, cause });
  }
  throw error;
}

function documentUrl(url: string, base?: string): string {
  const target = webUrl(url, base);
  if (target !== undefined) return target.href;
  const scheme = URL.parse(url, base)?.protocol ?? 'broken';
  throw new AgentCardError('invalid', `The agent card is at a ${scheme} address, which is not asked`);
}
