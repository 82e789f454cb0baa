/** Addresses differ by forwarded headers and local addresses only; more than this many is somebody playing. */
const MOST_BASES = 100;

/** Makes what depends on a base url once for each of them, and anew when there have been too many. */
export function keptByBase<Value>(make: (base: string) => Value): (base: string) => Value {
  const made = new Map<string, Value>();
  return (base) => {
    const known = made.get(base);
    if (known !== undefined) return known;
    if (made.size >= MOST_BASES) made.clear();
    const value = make(base);
    made.set(base, value);
    return value;
  };
}
