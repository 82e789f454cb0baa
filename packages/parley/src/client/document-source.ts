import type { CachedHeaders } from './card-freshness.js';

/** A document asked for by GET. */
export interface DocumentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** What came, whatever its status. */
export interface FetchedDocument {
  readonly status: number;
  readonly headers: CachedHeaders;
  readonly text: string;
}

/** Fetches a document, over redirects. Throws ConnectionError, or the reason of the signal. */
export type DocumentSource = (request: DocumentRequest) => Promise<FetchedDocument>;

/**
 * A url that documents and calls may go to. Platforms also fetch `data:`, `blob:` and, some of them, `file:`; those are
 * undefined here.
 */
export function webUrl(url: string, base?: string): URL | undefined {
  const parsed = URL.parse(url, base);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}
