const SECRET_HEADERS =
  /authorization|cookie|token|secret|password|credential|signature|(?:^|[-_])(?:api)?-?key$|-key-|^x-auth/i;

/** Returns headers for display, without the values of secret ones. `redacted` redacts the other values. */
export function shownHeaders(
  headers: Iterable<readonly [string, string]>,
  redacted: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, SECRET_HEADERS.test(name) ? '<redacted>' : redacted(value)]),
  );
}
