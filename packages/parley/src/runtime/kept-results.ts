/**
 * The function with its results kept, for texts that come again and again. Beyond `most` texts it forgets all results,
 * because texts from outside never end. An error is not kept.
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
