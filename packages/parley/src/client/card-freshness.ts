/** Response headers that control caching. */
export interface CachedHeaders {
  get(name: string): string | null;
}

/** Freshness of a document whose headers do not control caching. */
const UNSAID_MS = 60_000;
/** Limit of heuristic freshness, which is a tenth of the time since the last change (RFC 9111 §4.2.2). */
const LONGEST_GUESS_MS = 3_600_000;
/** The maximum number of directives that are read. RFC 9111 defines ten for responses. */
const MOST_DIRECTIVES = 50;

/**
 * Returns the ms for which a response is fresh in a private cache (RFC 9111 §4.2). 0: the cache may keep it, but has to
 * revalidate it. Undefined: the cache must not keep it.
 */
export function freshForMs(headers: CachedHeaders): number | undefined {
  const directives = directivesOf(headers.get('cache-control'));
  const varying = varyingHeaders(headers);
  if (directives.has('no-store') || varying.includes('*')) return undefined;
  // A browser adds cookies that the client does not see, so that it cannot compare them with `Vary`.
  if (directives.has('no-cache') || varying.includes('cookie')) return 0;
  const date = Date.parse(headers.get('date') ?? '');
  const age = (Number(headers.get('age') ?? 0) || 0) * 1000;
  return Math.max(0, lifetimeMs(headers, directives, date) - age);
}

/** Returns the names in the header `Vary`, in lower case: request headers that select the response. */
export function varyingHeaders(headers: CachedHeaders): readonly string[] {
  return (
    headers
      .get('vary')
      ?.toLowerCase()
      .match(/[^\s,]+/g) ?? []
  );
}

function lifetimeMs(headers: CachedHeaders, directives: ReadonlyMap<string, string>, date: number): number {
  const maxAge = directives.get('max-age');
  if (maxAge !== undefined) return (Number(maxAge) || 0) * 1000;
  const expires = headers.get('expires');
  // An unreadable time, such as 0, lies in the past.
  if (expires !== null) return Date.parse(expires) - date || 0;
  const unchanged = date - Date.parse(headers.get('last-modified') ?? '');
  return Number.isNaN(unchanged) ? UNSAID_MS : Math.min(unchanged / 10, LONGEST_GUESS_MS);
}

function directivesOf(cacheControl: string | null): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const directive of cacheControl?.split(',', MOST_DIRECTIVES) ?? []) {
    const [name = '', value = ''] = directive.split('=', 2);
    directives.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return directives;
}
