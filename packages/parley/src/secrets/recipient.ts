import { SecretBox, type SecretPlace } from './secret-box.js';

const ECDH = { name: 'ECDH', namedCurve: 'P-256' } as const;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * A holder of a private key that never leaves the memory of its process. Others encrypt secrets for it with its public
 * key (ECDH on P-256, then `SecretBox`). No reader of a storage between them can decrypt these secrets.
 */
export class Recipient {
  /** The public key, in base64. */
  readonly publicKey: string;
  readonly #privateKey: Key;

  private constructor(publicKey: string, privateKey: Key) {
    this.publicKey = publicKey;
    this.#privateKey = privateKey;
  }

  /** Makes a new pair of keys. */
  static async create(): Promise<Recipient> {
    const { publicKey, privateKey } = await crypto.subtle.generateKey(ECDH, false, ['deriveBits']);
    return new Recipient(await textOf(publicKey), privateKey);
  }

  /**
   * Decrypts a text of `sealFor`.
   * @throws SecretError if the text was changed or moved to another place.
   */
  async open(text: string, place: SecretPlace): Promise<string> {
    const [sender = '', sealed = ''] = text.split(' ');
    return (await sharedBox(sender, this.#privateKey)).open(sealed, place);
  }
}

/** Encrypts a secret for the holder of a public key. */
export async function sealFor(publicKey: string, secret: string, place: SecretPlace): Promise<string> {
  const sender = await crypto.subtle.generateKey(ECDH, false, ['deriveBits']);
  const sealed = await (await sharedBox(publicKey, sender.privateKey)).seal(secret, place);
  return `${await textOf(sender.publicKey)} ${sealed}`;
}

/** The box that both sides derive, each from its own private key and the public key of the other. */
async function sharedBox(publicKey: string, privateKey: Key): Promise<SecretBox> {
  const bytes = Uint8Array.from(atob(publicKey), (char) => char.charCodeAt(0));
  const other = await crypto.subtle.importKey('raw', bytes, ECDH, false, []);
  const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: other }, privateKey, 256);
  return new SecretBox([base64Of(shared)]);
}

async function textOf(publicKey: Key): Promise<string> {
  return base64Of(await crypto.subtle.exportKey('raw', publicKey));
}

function base64Of(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
