import type { TransportCall } from '../../client/client-transport.js';
import { isLegacy } from '../../operations/versions.js';

/**
 * The headers of a call in a version: the version, the extensions in its spelling (Spec §3.2.6), and those of the
 * caller.
 */
export function serviceHeaders(
  version: string,
  { extensions, headers, lastEventId }: TransportCall,
): Record<string, string> {
  const all: Record<string, string> = { 'a2a-version': version, ...headers };
  if (extensions.length > 0) all[isLegacy(version) ? 'x-a2a-extensions' : 'a2a-extensions'] = extensions.join(', ');
  if (lastEventId !== undefined) all['last-event-id'] = lastEventId;
  return all;
}

/** A url with further query parameters. */
export function withQuery(url: string, parameters: Readonly<Record<string, string>> | undefined): string {
  if (parameters === undefined) return url;
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}
