import { type DocumentSource, webUrl } from '../../client/document-source.js';
import { A2AError } from '../../errors/a2a-error.js';
import { AgentCardError } from '../../errors/agent-card-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { RefusedAddressError } from '../../errors/refused-address-error.js';
import { redirectTarget } from '../../net/redirects.js';
import { CARD_BYTES, discard, type HttpCaller, type HttpRequest, readAnswer, sendRequest } from './http-caller.js';
import { EVENT_STREAM_TYPE } from './media-type.js';

/**
 * Fetches documents of at most 1 MiB, over at most three redirects, from http and https urls only. No redirect leads
 * from https to http. The headers go to the origin of the url, and not to the target of a redirect.
 */
export function documentSource(caller: HttpCaller): DocumentSource {
  return async ({ url, headers, signal }) => {
    const { origin } = new URL(url);
    let target = documentUrl(url);
    for (let redirects = 0; ; redirects++) {
      const own = new URL(target).origin === origin ? headers : {};
      const request = { url: target, method: 'GET', headers: own, signal, redirects: 'wanted' } as const;
      const response = await sendRequest(caller, request).catch((error: unknown) =>
        withTlsHint(error, caller, request),
      );
      const next = targetOf(response, target, redirects);
      if (next === undefined)
        return { status: response.status, headers: response.headers, text: await textOf(response, caller, signal) };
      target = documentUrl(next.href);
    }
  };
}

/** The text of an answer. Undefined for an event stream, which may have no end: the url is that of an interface. */
async function textOf(
  response: Response,
  { answerBytes, answerItems: items }: HttpCaller,
  signal: AbortSignal | undefined,
): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith(EVENT_STREAM_TYPE) === true;
  if (isStream) {
    discard(response);
    return '';
  }
  try {
    return await readAnswer(response, { limit: Math.min(answerBytes, CARD_BYTES), items, signal });
  } catch (error) {
    // The answer is too long, or has too many members.
    if (!(error instanceof A2AError) || error.code !== 'INVALID_AGENT_RESPONSE') throw error;
    throw new AgentCardError('invalid', `The document is no agent card: ${error.message}`);
  }
}

/** The target of an answer that redirects. @throws AgentCardError for a redirect that is not followed. */
function targetOf(response: Response, url: string, earlier: number): URL | undefined {
  try {
    return redirectTarget(response, new URL(url), earlier);
  } catch (error) {
    throw error instanceof RefusedAddressError ? new AgentCardError('invalid', error.message) : error;
  }
}

/** The same error, or one that says that the port speaks TLS, because a wrong scheme is the most common mistake. */
async function withTlsHint(error: unknown, { request }: HttpCaller, { url, signal }: HttpRequest): Promise<never> {
  if (error instanceof ConnectionError && error.cause instanceof Error && error.cause.cause !== undefined) {
    const { sent, cause } = error;
    const { wantsTls } = await import('./connection-reasons.js');
    if (await wantsTls(url, { cause, request, signal }))
      throw new ConnectionError(`${new URL(url).origin} speaks TLS: use https instead of http`, { sent, cause });
  }
  throw error;
}

function documentUrl(url: string): string {
  const target = webUrl(url);
  if (target !== undefined) return target.href;
  const scheme = URL.parse(url)?.protocol ?? 'broken';
  throw new AgentCardError('invalid', `The agent card is at a ${scheme} address, which is not asked`);
}
