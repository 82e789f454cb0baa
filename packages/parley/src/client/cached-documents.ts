import type { Clock } from '../runtime/clock.js';
import type { CachedDocument, CardCache } from './card-cache.js';
import { freshForMs } from './card-freshness.js';
import type { DocumentSource, FetchedDocument } from './document-source.js';

/** The options of `CachedDocuments`. */
export interface CachedDocumentsOptions {
  readonly source: DocumentSource;
  readonly cache: CardCache;
  readonly clock: Clock;
  /**
   * Headers for the caller's own origin, by lower-case name. A document fetched with headers may be for this caller
   * only, so it is not cached.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/** The conditions of a request for a document. */
export interface DocumentQuery {
  /** True for the origin that the caller gave. Only that origin gets the caller's headers. */
  readonly isOwn: boolean;
  readonly signal: AbortSignal | undefined;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** The answer to a request for a document. */
export interface ResolvedDocument {
  readonly status: number;
  readonly text: string;
}

/** Documents by URL, with an HTTP cache (RFC 9111) that revalidates. */
export class CachedDocuments {
  readonly #options: CachedDocumentsOptions;

  constructor(options: CachedDocumentsOptions) {
    this.#options = options;
  }

  /** Gets the document at a URL. */
  async get(url: string, { isOwn, signal }: DocumentQuery): Promise<ResolvedDocument> {
    const { source, cache, clock } = this.#options;
    const headers = isOwn ? this.#options.headers : NO_HEADERS;
    const isShared = Object.keys(headers).length === 0;
    const known = isShared ? await quietly(() => cache.get(url)) : undefined;
    if (known !== undefined && known.freshUntil > clock.now()) return { status: 200, text: known.text };
    const asked: Record<string, string> = { accept: 'application/json', 'a2a-version': '1.0', ...headers };
    if (known?.etag !== undefined) asked['if-none-match'] = known.etag;
    if (known?.lastModified !== undefined) asked['if-modified-since'] = known.lastModified;
    const answer = await source({ url, headers: asked, signal });
    const isSame = answer.status === 304 && known !== undefined;
    const text = isSame ? known.text : answer.text;
    const document = isShared && (isSame || answer.status === 200) ? this.#kept(answer, text) : undefined;
    if (document !== undefined) await quietly(() => cache.set(url, document));
    return { status: isSame ? 200 : answer.status, text };
  }

  #kept({ headers }: FetchedDocument, text: string): CachedDocument | undefined {
    const freshMs = freshForMs(headers);
    if (freshMs === undefined) return undefined;
    const etag = headers.get('etag');
    const lastModified = headers.get('last-modified');
    return {
      text,
      freshUntil: this.#options.clock.now() + freshMs,
      ...(etag !== null && { etag }),
      ...(lastModified !== null && { lastModified }),
    };
  }
}

async function quietly<T>(work: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
