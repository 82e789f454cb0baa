/** Finds an entry by path prefix, in whole segments: `/spec` is no prefix of `/spec03`. The longest prefix wins. */
export function prefixRouter<T extends { readonly path: string }>(
  entries: readonly T[],
): (path: string) => T | undefined {
  const root = entries.find(({ path }) => path === '/');
  const others = entries.filter((entry) => entry !== root).sort((a, b) => b.path.length - a.path.length);
  return (path) => {
    for (const entry of others) {
      const { length } = entry.path;
      if (path.startsWith(entry.path) && (path.length === length || path.charCodeAt(length) === 47)) return entry;
    }
    return root;
  };
}
