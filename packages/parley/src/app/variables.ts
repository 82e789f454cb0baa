/** Reads a variable of the environment. `right` tells the user a correct value, if `parse` returns `undefined`. */
export type ReadVariable<Name extends string> = <T>(
  name: Name,
  parse: (text: string) => T | undefined,
  right: string,
) => T | undefined;

/** `true` or `false`. */
export function booleanOf(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Entries separated by commas; `undefined` if one is empty, or if `check` throws for them. */
export function listOf(text: string, check?: (entries: readonly string[]) => unknown): readonly string[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.includes('')) return undefined;
  try {
    check?.(entries);
    return entries;
  } catch {
    return undefined;
  }
}
