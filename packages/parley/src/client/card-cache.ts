/** A document as received. */
export interface CachedDocument {
  /** The JSON of the document. */
  readonly text: string;
  /** End of the time in which the document needs no revalidation, in ms since the epoch. */
  readonly freshUntil: number;
  readonly etag?: string;
  readonly lastModified?: string;
  /**
   * The request headers by which the server varies the document (RFC 9111 §4.1): lower-case name → value, empty if the
   * request had no such header. The document is for requests with the same values only.
   */
  readonly vary?: Readonly<Record<string, string>>;
}

/**
 * Stores cards between calls. The key is the URL. For a client with its own `fetch`, the key also has a random name of
 * that function, which differs in each process. A failure of the cache counts as a cache miss.
 */
export interface CardCache {
  get(key: string): Promise<CachedDocument | undefined> | CachedDocument | undefined;
  set(key: string, document: CachedDocument): Promise<void> | void;
}

const MOST = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Makes a cache in memory: at most 1,000 cards and 16 MiB. The least recently used go first. */
export function memoryCardCache(): CardCache {
  const documents = new Map<string, CachedDocument>();
  let bytes = 0;
  const remove = (url: string): CachedDocument | undefined => {
    const known = documents.get(url);
    if (known !== undefined) bytes -= sizeOf(url, known);
    documents.delete(url);
    return known;
  };
  const add = (url: string, document: CachedDocument): void => {
    bytes += sizeOf(url, document);
    documents.set(url, document);
  };
  return {
    get: (url) => {
      const known = remove(url);
      if (known !== undefined) add(url, known);
      return known;
    },
    set: (url, document) => {
      remove(url);
      add(url, document);
      for (const oldest of documents.keys()) {
        if (documents.size <= MOST && bytes <= MOST_BYTES) break;
        remove(oldest);
      }
    },
  };
}

/** Returns a lower bound of the memory use: two bytes per character, and the objects around them. */
function sizeOf(url: string, { text, etag = '', lastModified = '', vary = {} }: CachedDocument): number {
  return 2 * (url.length + text.length + etag.length + lastModified.length + JSON.stringify(vary).length) + 500;
}
