import type { Credentials, HeaderReader } from './authenticator.js';

/** Methods that change nothing on the server. */
export const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** The schemes of `Authorization` that a browser adds by itself once its user has signed in (RFC 9110 §11.6.2). */
const ATTACHED = /^\s*(?:basic|digest|negotiate|ntlm)(?:\s|$)/i;

/** True if a browser may have added the value of `Authorization` without the page. */
export function isAttached(authorization: string): boolean {
  return ATTACHED.test(authorization);
}

/**
 * True if `Sec-Fetch-Site` and `Origin` show that a page of another site made the request. `undefined` if the request
 * has neither: no current browser sent it.
 */
export function isFromOtherSite(header: HeaderReader): boolean | undefined {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = header('origin');
  return origin === undefined ? undefined : origin.replace(/^https?:\/\//, '') !== header('host');
}

/**
 * True if a page of another site may have caused a browser to send a credential with a request that changes something.
 * Use it for credentials that browsers attach by themselves and that other callers send, too. `header` reads the
 * request to which the browser attached it.
 */
export function isAttachedCrossSite(
  credentials: Credentials,
  trustedOrigins: readonly string[] = [],
  header: HeaderReader = (name) => credentials.header(name),
): boolean {
  if (credentials.method === undefined || SAFE_METHODS.includes(credentials.method)) return false;
  const origin = header('origin');
  if (origin !== undefined && trustedOrigins.includes(origin)) return false;
  return isFromOtherSite(header) === true;
}
