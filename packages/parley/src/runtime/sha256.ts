/** The SHA-256 of a text in UTF-8: 32 bytes. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** The first bytes of the SHA-256 of a text, as hex digits. */
export async function fingerprint(text: string, bytes: number): Promise<string> {
  const digest = await sha256(text);
  return Array.from(digest.subarray(0, bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
