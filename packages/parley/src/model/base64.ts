const ALPHABET = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') ALPHABET[char.charCodeAt(0)] = 1;

const PAD = 61;

/**
 * True if a text is standard base64 with padding (Spec §5.5). A loop, because a pattern could overflow the stack on
 * long texts.
 */
export function isBase64(text: string): boolean {
  const length = text.length;
  if (length === 0) return true;
  if (length % 4 !== 0) return false;
  let end = length;
  if (text.charCodeAt(end - 1) === PAD) end -= text.charCodeAt(end - 2) === PAD ? 2 : 1;
  for (let i = 0; i < end; i++) {
    // For characters beyond ASCII the table has no entry.
    if (ALPHABET[text.charCodeAt(i)] !== 1) return false;
  }
  return true;
}

const URL_SAFE = /[-_]/;

/** Converts base64 in the URL-safe alphabet or without padding to standard base64. An invalid text stays invalid. */
export function toStandardBase64(text: string): string {
  const standard = URL_SAFE.test(text) ? inStandardAlphabet(text) : text;
  // A text with a remainder of 1 lacks bits. A text that has some padding must have all of it.
  const rest = standard.length % 4;
  return rest < 2 || standard.endsWith('=') ? standard : standard + '='.repeat(4 - rest);
}

/** Replaces four bytes at a time. `replaceAll` joins one piece per match, which takes seconds for 10 MB. */
function inStandardAlphabet(text: string): string {
  const words = new Uint32Array(Math.ceil(text.length / 4));
  const bytes = new Uint8Array(words.buffer, 0, text.length);
  const { read, written } = new TextEncoder().encodeInto(text, bytes);
  // A text with other characters than ASCII is no base64.
  if (read !== written || written !== text.length) return text;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    const minus = onesWhere(word ^ 0x2d2d2d2d);
    const underscore = onesWhere(word ^ 0x5f5f5f5f);
    // `-` and `+` differ in the bits 0x06, `_` and `/` in 0x70.
    if ((minus | underscore) !== 0) words[at] = word ^ (minus * 0x06) ^ (underscore * 0x70);
  }
  return new TextDecoder().decode(bytes);
}

/** A word with 0x01 for each zero byte of the given word, and 0x00 for the others. */
function onesWhere(word: number): number {
  return (~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word) & 0x80808080) >>> 7;
}
