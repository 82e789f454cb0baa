import type { DocumentSource } from '../../client/document-source.js';
import { A2AError } from '../../errors/a2a-error.js';
import { discard, type HttpCaller, readAnswer, sendRequest } from './http-caller.js';

const MOST_REDIRECTS = 3;

/** Fetches documents, over at most three redirects. What a request carries goes to the origin it was meant for only. */
export function documentSource(caller: HttpCaller): DocumentSource {
  return async ({ url, headers, signal }) => {
    const { origin } = new URL(url);
    let target = url;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const own = new URL(target).origin === origin ? headers : {};
      const request = { url: target, method: 'GET', headers: own, signal, redirects: 'wanted' } as const;
      const response = await sendRequest(caller, request);
      const location = response.headers.get('location');
      if (response.status === 304 || response.status < 300 || response.status > 399 || location === null) {
        const text = await readAnswer(response, { limit: caller.answerBytes, signal });
        return { status: response.status, headers: response.headers, text };
      }
      discard(response);
      target = new URL(location, target).href;
    }
    throw new A2AError('INVALID_AGENT_RESPONSE', `The agent card is redirected more than ${MOST_REDIRECTS} times`);
  };
}
