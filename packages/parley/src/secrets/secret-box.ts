import { SecretError } from '../errors/secret-error.js';
import { secretKeyBytes } from './secret-keys.js';

/**
 * The place of a secret, such as the names of its task and its member. A secret can be decrypted only with its own
 * place.
 */
export type SecretPlace = readonly (string | null)[];

const PREFIX = 'parley-sealed.1';
const SEALED = /^parley-sealed\.1\.([\da-f]{16})\.([\w-]{38,})$/;
const IV_BYTES = 12;
const UTF_8 = new TextEncoder();

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

interface KeyRing {
  readonly first: KeyPair;
  readonly all: ReadonlyMap<string, KeyPair>;
}

/** The keys derived from one configured key: `seal` encrypts, and `nonce` makes initialization vectors. */
interface KeyPair {
  readonly id: string;
  readonly seal: Key;
  readonly nonce: Key;
}

/**
 * Encrypts secrets for storage: AES-256-GCM, with the id of the key in the text and the place of the secret as
 * additional data. The first key encrypts, and all decrypt. The initialization vector is a keyed hash of place and
 * secret. An equal secret at the same place therefore has an equal text.
 */
export class SecretBox {
  readonly #keys: Promise<KeyRing>;

  /**
   * Keys of 32 bytes, in base64 or hex.
   * @throws OptionsError naming the position of every text that is no key.
   */
  constructor(keys: readonly string[]) {
    this.#keys = keyRing(secretKeyBytes(keys));
  }

  /** Encrypts a secret. */
  async seal(secret: string, place: SecretPlace): Promise<string> {
    const { first } = await this.#keys;
    const additionalData = placeBytes(place);
    const hash = await crypto.subtle.sign('HMAC', first.nonce, UTF_8.encode(JSON.stringify([place, secret])));
    const iv = new Uint8Array(hash.slice(0, IV_BYTES));
    const cipher = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv, additionalData },
      first.seal,
      UTF_8.encode(secret),
    );
    return `${PREFIX}.${first.id}.${textOf([...iv, ...new Uint8Array(cipher)])}`;
  }

  /**
   * Decrypts a secret. A text that is not encrypted is returned unchanged: it was stored before keys were configured.
   * @throws SecretError if its key is missing, or if the text was changed or moved to another place.
   */
  async open(text: string, place: SecretPlace): Promise<string> {
    const [, id = '', content = ''] = SEALED.exec(text) ?? [];
    if (id === '') return text;
    const key = (await this.#keys).all.get(id);
    if (key === undefined) throw missingKey(id);
    try {
      const bytes = bytesOf(content);
      const algorithm = { name: 'AES-GCM', iv: bytes.slice(0, IV_BYTES), additionalData: placeBytes(place) };
      return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key.seal, bytes.slice(IV_BYTES)));
    } catch {
      throw new SecretError(`A secret encrypted with the key ${id} cannot be decrypted: its text was changed or moved`);
    }
  }

  /** True if a text is encrypted with the first key. */
  async isCurrent(text: string): Promise<boolean> {
    return SEALED.exec(text)?.[1] === (await this.#keys).first.id;
  }
}

/**
 * Returns a plain text unchanged, for servers without keys.
 * @throws SecretError for an encrypted one.
 */
export function requirePlain(text: string): string {
  const id = SEALED.exec(text)?.[1];
  if (id !== undefined) throw missingKey(id);
  return text;
}

function missingKey(id: string): SecretError {
  return new SecretError(`A secret is encrypted with the key ${id}, which is not configured. Add it to secretKeys`);
}

async function keyRing(keys: readonly Uint8Array<ArrayBuffer>[]): Promise<KeyRing> {
  const pairs = await Promise.all(keys.map(keyPair));
  return { first: pairs[0] as KeyPair, all: new Map(pairs.map((pair) => [pair.id, pair])) };
}

async function keyPair(bytes: Uint8Array<ArrayBuffer>): Promise<KeyPair> {
  const source = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits', 'deriveKey']);
  const from = (info: string) =>
    ({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: UTF_8.encode(`${PREFIX} ${info}`) }) as const;
  const [id, seal, nonce] = await Promise.all([
    crypto.subtle.deriveBits(from('id'), source, 64),
    crypto.subtle.deriveKey(from('seal'), source, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
    crypto.subtle.deriveKey(from('nonce'), source, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']),
  ]);
  return { id: Array.from(new Uint8Array(id), (byte) => byte.toString(16).padStart(2, '0')).join(''), seal, nonce };
}

function placeBytes(place: SecretPlace): Uint8Array<ArrayBuffer> {
  return UTF_8.encode(JSON.stringify(place));
}

function textOf(bytes: readonly number[]): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
}
