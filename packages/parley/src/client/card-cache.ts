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

/** Keeps cards in memory, the ones used last. */
export function memoryCardCache(): CardCache {
  const documents = new Map<string, CachedDocument>();
  return {
    get: (url) => documents.get(url),
    set: (url, document) => {
      documents.delete(url);
      documents.set(url, document);
      if (documents.size > MOST) documents.delete(documents.keys().next().value as string);
    },
  };
}
