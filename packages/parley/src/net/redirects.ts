import { RefusedAddressError } from '../errors/refused-address-error.js';

/** Headers that are sent to the target of a redirect on another origin. Any other header may hold a credential. */
const HARMLESS = new Set(['accept', 'accept-language', 'user-agent', 'a2a-version', 'a2a-extensions']);
const MOST_REDIRECTS = 3;

/** True for an answer that redirects (RFC 9110 §15.4). A browser hides its status and target. */
export function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);
}

/** True if a `fetch` with these options follows redirects. Only requests without a body are followed. */
export function followsRedirects({ method = 'GET', redirect = 'follow' }: RequestInit): boolean {
  return redirect === 'follow' && ['GET', 'HEAD'].includes(method.toUpperCase());
}

/**
 * The target of an answer from `url`, after `earlier` redirects; `undefined` for an answer that does not redirect.
 * Cancels the body of a redirect.
 * @throws RefusedAddressError for a target that is no url, for plain http after https, and after three redirects.
 */
export function redirectTarget(response: Response, url: URL, earlier: number): URL | undefined {
  const location = isRedirect(response) ? response.headers.get('location') : null;
  if (location === null) {
    if (response.type === 'opaqueredirect')
      throw addressRefusal(url, 'it redirects, and this host does not tell where to');
    return undefined;
  }
  response.body?.cancel().catch(() => {});
  if (earlier >= MOST_REDIRECTS) throw addressRefusal(url, `it redirects more than ${MOST_REDIRECTS} times`);
  const target = parsedUrl(location, url);
  if (url.protocol === 'https:' && target.protocol !== 'https:')
    throw addressRefusal(url, 'it redirects to plain http');
  return target;
}

/** The headers of a request for another origin. */
export function harmlessHeaders(headers: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries([...new Headers(headers)].filter(([name]) => HARMLESS.has(name)));
}

/** @throws RefusedAddressError for a text that is no url. */
export function parsedUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new RefusedAddressError('A request is not sent: its address is no url');
  return url;
}

/** The error for a url that is not called. It names the origin only: path and query may hold secrets. */
export function addressRefusal(url: URL, reason: string): RefusedAddressError {
  const place = /^https?:$/.test(url.protocol) ? `${url.protocol}//${url.host}` : 'The address';
  return new RefusedAddressError(`${place} is not called: ${reason}`);
}
