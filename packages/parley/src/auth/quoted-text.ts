/** The index of the quote that ends a quoted text, in which a backslash takes a character; `-1` if it has no end. */
export function quotedEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

/** A text without its quoted texts. One without an end stays. */
export function withoutQuoted(text: string): string {
  let kept = '';
  let from = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', from)) {
    const end = quotedEnd(text, start);
    if (end < 0) break;
    kept += text.slice(from, start);
    from = end + 1;
  }
  return kept + text.slice(from);
}
