/** The bounds of a JSON text. */
export interface JsonBounds {
  /** Nesting of objects and arrays. */
  readonly depth: number;
  /** Members of all objects, and elements of all arrays. */
  readonly items: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const LAST_SPACE = 32;
const NEAR = 24;

/**
 * Scans a JSON text before it is parsed. Returns the bound that the text exceeds; undefined if none. A text that is too
 * short or has too few brackets to exceed a bound is not scanned. For a text that is not JSON, the result has no
 * meaning.
 */
export function passedBound(text: string, { depth, items }: JsonBounds): keyof JsonBounds | undefined {
  // An item takes two characters at least, with its comma or its bracket.
  if (text.length <= 2 * items && (text.length <= depth || !opensMore(text, depth))) return undefined;
  let open = 0;
  let left = items;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case COMMA:
        if (--left < 0) return 'items';
        break;
      case 0x7b:
      case 0x5b:
        if (++open > depth) return 'depth';
        while (text.charCodeAt(at + 1) <= LAST_SPACE) at++;
        if (!closesAt(text, at + 1) && --left < 0) return 'items';
        break;
      case 0x7d:
      case 0x5d:
        open--;
        break;
      case QUOTE:
        at = endOfString(text, at);
        break;
    }
  }
  return undefined;
}

function closesAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x7d || code === 0x5d;
}

/** A native search from bracket to bracket costs far less than a look at every character. */
function opensMore(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (left-- === 0) return true;
    }
  }
  return false;
}

/** The index of the closing quote of the string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  // A native search costs as much as a look at dozens of characters, and most strings are short.
  for (const near = at + NEAR; at < near; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  let end = text.indexOf('"', at);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
