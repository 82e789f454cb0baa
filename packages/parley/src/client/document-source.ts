import type { CachedHeaders } from './card-freshness.js';

/** A GET request for a document. */
interface DocumentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** The response, with any status. */
export interface FetchedDocument {
  readonly status: number;
  readonly headers: CachedHeaders;
  readonly text: string;
}

/** Fetches a document and follows redirects. Throws ConnectionError, or the reason of the signal. */
export type DocumentSource = (request: DocumentRequest) => Promise<FetchedDocument>;

/**
 * Parses a URL for documents and calls. Undefined for schemes other than http and https, such as `data:` or `file:`.
 */
export function webUrl(url: string, base?: string): URL | undefined {
  const parsed = URL.parse(url, base);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}
