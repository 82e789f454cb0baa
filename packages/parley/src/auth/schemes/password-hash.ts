import { isSameText } from '../same-text.js';

/** A password as PBKDF2 with HMAC-SHA-256 keeps it (RFC 8018 §5.2). */
export interface PasswordHash {
  readonly iterations: number;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly hash: Uint8Array<ArrayBuffer>;
}

/** The cost of a new hash: 0.1 to 0.3 s on a server. */
export const DEFAULT_ITERATIONS = 600_000;
const HASH_BYTES = 32;
const FORM = /^\$pbkdf2-sha256\$i=(\d{1,8})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{43})$/;

/** Reads the form `$pbkdf2-sha256$i=600000$<salt>$<hash>`, base64 without padding; `undefined` for any other text. */
export function readPasswordHash(text: string): PasswordHash | undefined {
  const [, iterations = '', salt = '', hash = ''] = FORM.exec(text) ?? [];
  if (Number(iterations) < 1 || salt.length % 4 === 1) return undefined;
  return { iterations: Number(iterations), salt: bytesOf(salt), hash: bytesOf(hash) };
}

/** Writes the form that `readPasswordHash` reads. */
export function writePasswordHash({ iterations, salt, hash }: PasswordHash): string {
  return `$pbkdf2-sha256$i=${iterations}$${textOf(salt)}$${textOf(hash)}`;
}

/** The hash of a password, by the Web Crypto API of any host. Passwords are compared in Normalization Form C. */
export async function derivedHash(
  password: string,
  { salt, iterations }: Pick<PasswordHash, 'salt' | 'iterations'>,
): Promise<PasswordHash> {
  const bytes = new TextEncoder().encode(password.normalize('NFC'));
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits']);
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations };
  return { salt, iterations, hash: new Uint8Array(await crypto.subtle.deriveBits(parameters, key, HASH_BYTES * 8)) };
}

/** True if a password has the hash. Takes the same time for right and wrong ones. */
export async function hasHash(password: string, expected: PasswordHash): Promise<boolean> {
  const { hash } = await derivedHash(password, expected);
  return isSameText(textOf(hash), textOf(expected.hash));
}

function textOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('=', '');
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
