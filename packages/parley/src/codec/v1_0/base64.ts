/** A text in the URL-safe alphabet or without padding as standard base64; anything else comes out as invalid as it was. */
export function toStandardBase64(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  // With a remainder of one there are bits missing, and a text that has some padding must have all of it.
  const rest = standard.length % 4;
  return rest < 2 || standard.endsWith('=') ? standard : standard + '='.repeat(4 - rest);
}
