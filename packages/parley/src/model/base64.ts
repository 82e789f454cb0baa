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
