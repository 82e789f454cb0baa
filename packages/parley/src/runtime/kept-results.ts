/**
 * Caches the results of a function of a text. After `most` texts it clears the cache, because texts from outside have
 * no bound. An error is not cached.
 */
export function keptResults<Result>(make: (text: string) => Result, most: number): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined || results.has(text)) return known as Result;
    const result = make(text);
    if (results.size >= most) results.clear();
    results.set(text, result);
    return result;
  };
}
