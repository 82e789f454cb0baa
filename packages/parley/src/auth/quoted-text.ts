const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The index of the closing quote of a quoted text; a backslash escapes a character. `-1` if there is none. */
export function quotedEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return -1;
}

/** A text without its quoted parts. A quote without an end stays. */
export function withoutQuoted(text: string): string {
  let kept = '';
  for (let rest = text; ; ) {
    const start = rest.indexOf('"');
    // No closing quote follows.
    const end = quotedEnd(rest, start);
    if (end < 0) return kept + rest;
    kept += rest.slice(0, start);
    rest = rest.slice(end + 1);
  }
}
