/** Endpoint names and paths that callers use for the names that keys begin with. */
const SYNONYMS: readonly (readonly [name: string, words: RegExp])[] = [
  ['discover', /\/?discovery\b|\/discover\b|\/?agent\.json\b|\/?agentJson\b/g],
  ['health', /\/health\b/g],
];

/**
 * The patterns of the cache that a caller's pattern means. A pattern without `*` means every key that contains it. An
 * endpoint's name and its path mean the same.
 */
export function cachePatterns(pattern: string): readonly string[] {
  const named = SYNONYMS.reduce((text, [name, words]) => text.replace(words, name), pattern);
  return [...new Set([pattern, named].map((one) => (one.includes('*') ? one : `*${literal(one)}*`)))];
}

/** A text as a pattern that matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\?[\]^]/g, '\\$&');
}
