import type { OAuthEndpoints } from 'parley-a2a/credentials';
import { CONSOLE_PATH } from './launch.js';

/** A sign-in at an authorization server. It holds no secret. */
export interface OAuthLogin {
  readonly flow: 'authorizationCode' | 'deviceCode';
  /** The name of the scheme in the card. */
  readonly scheme: string;
  readonly issuer: string;
  /** Absent: those of the issuer's discovery document. */
  readonly endpoints?: OAuthEndpoints;
  readonly scopes: readonly string[];
  /** The public client that the authorization server knows. */
  readonly clientId: string;
}

/** The key of an agent's tokens in the storage of the tab. */
export const tokensKey = (path: string): string => `parley-console:tokens:${path}`;

/** The address to which an authorization server sends the user back. */
export const redirectUri = `${location.origin}${CONSOLE_PATH}`;

/** The channel to the tab that waits for a sign-in. */
const RETURNS = 'parley-console:sign-in';

/** Waits until the user comes back from the page at a url. Resolves to the address of the return. */
export function untilReturned(url: string, signal: AbortSignal): Promise<string> {
  const state = stateOf(url);
  const returns = new BroadcastChannel(RETURNS);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  returns.addEventListener('message', ({ data }) => {
    if (typeof data === 'string' && stateOf(data) === state) resolve(data);
  });
  return promise.finally(() => returns.close());
}

/** True if this page is the redirect of a sign-in, of which the waiting tab is then notified. */
export function isReturn(): boolean {
  const { pathname, search, href } = location;
  const query = new URLSearchParams(search);
  if (pathname !== CONSOLE_PATH || !query.has('state') || !(query.has('code') || query.has('error'))) return false;
  // A code in the address would stay in the history.
  history.replaceState(null, '', pathname);
  const returns = new BroadcastChannel(RETURNS);
  returns.postMessage(href);
  returns.close();
  return true;
}

function stateOf(url: string): string | null | undefined {
  return URL.parse(url)?.searchParams.get('state');
}
