import { OptionsError } from '../errors/options-error.js';

const HEX = /^[\da-f]{64}$/i;
const BASE64 = /^[\w+/-]{43}=?$/;

/** True for a key of 32 bytes in base64, base64url or hex. */
export function isSecretKey(text: string): boolean {
  return HEX.test(text) || BASE64.test(text);
}

/**
 * The bytes of keys.
 * @throws OptionsError naming the position of every text that is no key. The text itself may be a secret.
 */
export function secretKeyBytes(keys: readonly string[]): readonly Uint8Array<ArrayBuffer>[] {
  const wrong = keys.flatMap((key, at) => (isSecretKey(key) ? [] : [`[${at}] must be 32 bytes in base64 or hex`]));
  if (keys.length === 0) wrong.push('at least one key is needed');
  if (wrong.length > 0) throw new OptionsError('secretKeys', wrong);
  return keys.map((key) => {
    if (HEX.test(key)) return Uint8Array.from(key.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    return Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  });
}
