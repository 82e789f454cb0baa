import { A2AError } from '../../errors/a2a-error.js';

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
const LONGEST_SPACE = 32;

/**
 * The bound that a JSON text passes; undefined if it passes none. One scan, before anything is parsed. Texts that are
 * too short to pass a bound, or have too few brackets, are not scanned. A text that is no JSON has any result.
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
        while (text.charCodeAt(at + 1) <= LONGEST_SPACE) at++;
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
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/**
 * Refuses the JSON of a peer with too many members and elements: to parse it would hold up the process.
 * @throws A2AError INVALID_AGENT_RESPONSE
 */
export function refuseItems(text: string, items: number): void {
  if (passedBound(text, { depth: Number.POSITIVE_INFINITY, items }) === undefined) return;
  const message = `The answer has more than ${items} members and elements, the limit answerItems`;
  throw new A2AError('INVALID_AGENT_RESPONSE', message);
}
