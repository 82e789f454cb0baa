/** A document as it was received. */
export interface CachedDocument {
  /** JSON of the document. */
  readonly text: string;
  /** Until when it may be used without asking, ms since the epoch. */
  readonly freshUntil: number;
  readonly etag?: string;
  readonly lastModified?: string;
}

/** Where cards are kept between calls, by their url. A cache that fails is as good as an empty one. */
export interface CardCache {
  get(url: string): Promise<CachedDocument | undefined> | CachedDocument | undefined;
  set(url: string, document: CachedDocument): Promise<void> | void;
}

const MOST = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Keeps cards in memory: at most 1,000, of 16 MiB together. Those used last stay. */
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

/** At least what it takes in memory: two bytes per character, and what stands around them. */
function sizeOf(url: string, { text, etag = '', lastModified = '' }: CachedDocument): number {
  return 2 * (url.length + text.length + etag.length + lastModified.length) + 500;
}
