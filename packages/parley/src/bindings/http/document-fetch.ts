import type { DocumentSource } from '../../client/document-source.js';
import { A2AError } from '../../errors/a2a-error.js';
import { AgentCardError } from '../../errors/agent-card-error.js';
import { CARD_BYTES, discard, type HttpCaller, readAnswer, sendRequest } from './http-caller.js';

const MOST_REDIRECTS = 3;

/**
 * Fetches documents of at most 1 MiB, over at most three redirects, from http and https urls only. The headers of a request go to the origin
 * of its url, and not where that redirects to.
 */
export function documentSource(caller: HttpCaller): DocumentSource {
  return async ({ url, headers, signal }) => {
    const { origin } = new URL(url);
    let target = webUrl(url);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const own = new URL(target).origin === origin ? headers : {};
      const request = { url: target, method: 'GET', headers: own, signal, redirects: 'wanted' } as const;
      const response = await sendRequest(caller, request);
      const location = response.headers.get('location');
      if (response.status === 304 || response.status < 300 || response.status > 399 || location === null) {
        const text = await readAnswer(response, { limit: Math.min(caller.answerBytes, CARD_BYTES), signal });
        return { status: response.status, headers: response.headers, text };
      }
      discard(response);
      target = webUrl(location, target);
    }
    throw new A2AError('INVALID_AGENT_RESPONSE', `The agent card is redirected more than ${MOST_REDIRECTS} times`);
  };
}

/** Platforms also fetch `data:`, `blob:` and, some of them, `file:`. */
function webUrl(url: string, base?: string): string {
  const target = URL.parse(url, base);
  if (target?.protocol === 'http:' || target?.protocol === 'https:') return target.href;
  throw new AgentCardError(
    'invalid',
    `The agent card is said to be at a ${target?.protocol ?? 'broken'} address; only http and https urls are asked`,
  );
}
