import { receivedChallenges } from '../auth/challenge.js';
import { PermissionDeniedError, UnauthenticatedError } from '../errors/standard-errors.js';
import { followsRedirects, harmlessHeaders, parsedUrl, redirectTarget } from '../net/redirects.js';
import type { CredentialGuard } from './credential-guard.js';

/** A `fetch` whose request is a URL and options. */
export type PlainFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Makes a `fetch` that adds credentials, for calls outside of a client. Credentials and headers named like them go to
 * trusted origins only. If the agent refuses the credentials and the provider has others, the request is repeated once.
 * A request whose body is a stream is not repeated. GET and HEAD follow up to three redirects; other methods follow
 * none. Each target is checked like the first url, and an untrusted one gets no headers of the caller.
 * The `fetch` throws RefusedAddressError for a redirect that it does not follow.
 */
export function credentialedFetch(guard: CredentialGuard, send: PlainFetch): PlainFetch {
  return async (address, init) => {
    if (!followsRedirects(init)) {
      const redirect = init.redirect === 'error' ? 'error' : 'manual';
      return sentWithCredentials(guard, send, { url: address, init: { ...init, redirect } });
    }
    let url = parsedUrl(address);
    let request: RequestInit = { ...init, redirect: 'manual' };
    for (let redirects = 0; ; redirects++) {
      const response = await sentWithCredentials(guard, send, { url: url.href, init: request });
      const target = redirectTarget(response, url, redirects);
      if (target === undefined) return response;
      if (!guard.isTrusted(target.href)) request = { ...request, headers: harmlessHeaders(request.headers) };
      url = target;
    }
  };
}

/** Sends a request with its credentials, and once again with others if the agent refuses them. */
async function sentWithCredentials(
  guard: CredentialGuard,
  send: PlainFetch,
  { url, init }: { readonly url: string; readonly init: RequestInit },
): Promise<Response> {
  const signal = init.signal ?? undefined;
  const own = guard.allowed(url, Object.fromEntries(new Headers(init.headers)));
  for (let isFirst = true; ; isFirst = false) {
    const credentials = await guard.credentials(url, signal);
    const target = withQuery(url, credentials.query);
    const response = await send(target, { ...init, headers: { ...own, ...credentials.headers } });
    const error = isFirst ? refusalIn(response) : undefined;
    if (error === undefined || !(await guard.renews(error, { url, signal, credentials }))) return response;
    if (init.body instanceof ReadableStream) return response;
    await response.body?.cancel();
  }
}

function withQuery(url: string, query: Readonly<Record<string, string>> = {}): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.append(name, value);
  return target.href;
}

function refusalIn({ status, headers }: Response): Error | undefined {
  if (status === 401) return new UnauthenticatedError(receivedChallenges(headers));
  return status === 403
    ? new PermissionDeniedError('The agent refused the call', receivedChallenges(headers))
    : undefined;
}
