const SECRET_HEADERS =
  /authorization|cookie|token|secret|password|credential|signature|(?:^|[-_])(?:api)?-?key$|-key-|^x-auth/i;

/** Headers as they may be shown: without the values of those that are secret by name. `redacted` hides the rest. */
export function shownHeaders(
  headers: Iterable<readonly [string, string]>,
  redacted: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, SECRET_HEADERS.test(name) ? '<redacted>' : redacted(value)]),
  );
}
