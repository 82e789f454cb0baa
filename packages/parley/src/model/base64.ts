const ALPHABET = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') ALPHABET[char.charCodeAt(0)] = 1;

const PAD = 61;

/** Whether a text is standard base64 with padding (spec §5.5). Linear, whatever the length: a pattern would need a stack. */
export function isBase64(text: string): boolean {
  const length = text.length;
  if (length === 0) return true;
  if (length % 4 !== 0) return false;
  let end = length;
  if (text.charCodeAt(end - 1) === PAD) end -= text.charCodeAt(end - 2) === PAD ? 2 : 1;
  for (let i = 0; i < end; i++) {
    // Beyond ASCII the table gives undefined.
    if (ALPHABET[text.charCodeAt(i)] !== 1) return false;
  }
  return true;
}
