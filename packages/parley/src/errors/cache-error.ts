/** A cache could not do what it was asked in the time it has. Never crosses the wire: whoever asked does without. */
export class CacheError extends Error {
  override readonly name = 'CacheError';
}
