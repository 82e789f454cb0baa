import type { Clock } from '../runtime/clock.js';
import type { CachedDocument, CardCache } from './card-cache.js';
import { freshForMs, varyingHeaders } from './card-freshness.js';
import type { DocumentSource, FetchedDocument } from './document-source.js';

/** The options of `CachedDocuments`. */
interface CachedDocumentsOptions {
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
interface DocumentQuery {
  /** True for the origin that the caller gave. Only that origin gets the caller's headers. */
  readonly isOwn: boolean;
  readonly signal: AbortSignal | undefined;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** The answer to a request for a document. */
interface ResolvedDocument {
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
    const asked: Readonly<Record<string, string>> = { accept: 'application/json', 'a2a-version': '1.0', ...headers };
    const cached = isShared ? await quietly(() => cache.get(url)) : undefined;
    const known = cached !== undefined && isFor(asked, cached) ? cached : undefined;
    if (known !== undefined && known.freshUntil > clock.now()) return { status: 200, text: known.text };
    const conditions: Record<string, string> = {};
    if (known?.etag !== undefined) conditions['if-none-match'] = known.etag;
    if (known?.lastModified !== undefined) conditions['if-modified-since'] = known.lastModified;
    const answer = await source({ url, headers: { ...asked, ...conditions }, signal });
    const earlier = answer.status === 304 ? known : undefined;
    const text = earlier?.text ?? answer.text;
    const isWhole = earlier !== undefined || answer.status === 200;
    const document = isShared && isWhole ? this.#cacheable(answer, { text, asked, earlier }) : undefined;
    if (document !== undefined) await quietly(() => cache.set(url, document));
    return { status: earlier === undefined ? answer.status : 200, text };
  }

  /** Undefined: the cache must not keep the document. `earlier` is the document that the server calls unchanged. */
  #cacheable({ headers }: FetchedDocument, { text, asked, earlier }: KeptDocument): CachedDocument | undefined {
    const freshMs = freshForMs(headers);
    if (freshMs === undefined) return undefined;
    const etag = headers.get('etag') ?? earlier?.etag;
    const lastModified = headers.get('last-modified') ?? earlier?.lastModified;
    const varying = varyingHeaders(headers).map((name) => [name, asked[name] ?? '']);
    const vary = varying.length === 0 ? earlier?.vary : Object.fromEntries(varying);
    return {
      text,
      freshUntil: this.#options.clock.now() + freshMs,
      ...(etag !== undefined && { etag }),
      ...(lastModified !== undefined && { lastModified }),
      ...(vary !== undefined && { vary }),
    };
  }
}

interface KeptDocument {
  readonly text: string;
  /** Headers of the request by lower-case name, without its conditions. */
  readonly asked: Readonly<Record<string, string>>;
  readonly earlier: CachedDocument | undefined;
}

/** True if a request with these headers would select the document. */
function isFor(asked: Readonly<Record<string, string>>, { vary = {} }: CachedDocument): boolean {
  return Object.entries(vary).every(([name, value]) => (asked[name] ?? '') === value);
}

async function quietly<T>(work: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
