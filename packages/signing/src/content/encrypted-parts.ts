import type * as Jose from 'jose';
import type { JsonObject, JsonValue, Part } from 'parley-a2a';
import { canonicalJson, ENCRYPTION_EXTENSION, isObject, isPart } from 'parley-a2a/kit';
import { canonicalPart } from './canonical-content.js';
import { type OwnKey, type RecipientKey, WRAP_ALGORITHMS } from './encryption-keys.js';

/** The place of a part, to which its encryption is bound. */
export type PartPlace =
  | {
      readonly messageId: string;
      readonly index: number;
      /** The number of parts of the message. */
      readonly parts: number;
    }
  /** `index` counts all parts of the artifact. Undefined for a chunk whose place only its signature contains. */
  | { readonly taskId: string; readonly artifactId: string; readonly index: number | undefined };

/** The reason why an encrypted part cannot be read. */
export class EncryptedPartFault extends Error {
  override readonly name = 'EncryptedPartFault';
}

/** The part is encrypted for keys of others only. */
export class OtherRecipientFault extends EncryptedPartFault {}

/** A JWE in general form with one part as its plaintext (RFC 7516 §7.2.1). */
interface PartJwe {
  readonly protected: string;
  readonly iv: string;
  readonly ciphertext: string;
  readonly tag: string;
  readonly recipients: readonly { readonly encrypted_key: string; readonly header: JsonObject }[];
}

const TYPE = 'a2a-part+jwe';
const CONTENT_ALGORITHM = 'A256GCM';
const MOST_RECIPIENTS = 4;
const LONGEST_HEADER = 8_192;
const LONGEST_KEY = 2_048;
/** Maximum length of a ciphertext in base64url. The body of the call is bounded before. */
const LONGEST_CIPHERTEXT = 64 * 1_048_576;
const KNOWN = ['enc', 'typ', 'messageId', 'taskId', 'artifactId', 'index', 'parts', 'by', 'epk', 'alg', 'kid'];

/** True for a part that is marked as encrypted. */
export function isEncrypted(part: Part): boolean {
  return part.metadata?.[ENCRYPTION_EXTENSION] !== undefined;
}

/**
 * Encrypts a part for all recipients. `by` names the keys of the signer, so that no other signer can claim the part.
 */
export async function sealedPart(
  part: Part,
  place: PartPlace,
  {
    library,
    recipients,
    by,
  }: { readonly library: typeof Jose; readonly recipients: readonly RecipientKey[]; readonly by: readonly string[] },
): Promise<Part> {
  const jwe = new library.GeneralEncrypt(new TextEncoder().encode(canonicalJson(canonicalPart(part))));
  jwe.setProtectedHeader({ enc: CONTENT_ALGORITHM, typ: TYPE, ...place, by: [...by] });
  for (const { key, alg, kid } of recipients) jwe.addRecipient(key).setUnprotectedHeader({ alg, kid });
  const sealed = (await jwe.encrypt()) as unknown as JsonValue;
  return { data: { jwe: sealed }, metadata: { [ENCRYPTION_EXTENSION]: true } };
}

/**
 * Decrypts a part with one of the keys.
 * @param signers The keys that have signed the content. Absent: any signer, or none.
 * @throws EncryptedPartFault if it is at another place, by another signer, or for none of the keys.
 */
export async function openedPart(
  part: Part,
  place: PartPlace,
  {
    library,
    keys,
    signers,
  }: { readonly library: typeof Jose; readonly keys: readonly OwnKey[]; readonly signers?: readonly string[] },
): Promise<Part> {
  const jwe = readJwe(part);
  const header = headerOf(jwe.protected, library);
  for (const recipient of jwe.recipients) {
    const { alg, kid } = { ...header, ...recipient.header };
    const own = keys.find((key) => key.kid === kid);
    if (own === undefined) continue;
    if (alg !== own.alg) throw new EncryptedPartFault('its algorithm is not that of the key');
    checkPlace(header, place);
    const { by } = header;
    if (!Array.isArray(by) || (signers !== undefined && !by.every((kid) => signers.includes(kid as string))))
      throw new EncryptedPartFault('was encrypted by another signer (by)');
    return partOf(await plaintext({ jwe, recipient, own, library }));
  }
  throw new OtherRecipientFault('is encrypted for other keys');
}

async function plaintext({
  jwe: { recipients: _, ...shared },
  recipient,
  own,
  library,
}: {
  readonly jwe: PartJwe;
  readonly recipient: PartJwe['recipients'][number];
  readonly own: OwnKey;
  readonly library: typeof Jose;
}): Promise<Uint8Array> {
  try {
    const { plaintext: bytes } = await library.flattenedDecrypt({ ...shared, ...recipient } as never, own.opens, {
      keyManagementAlgorithms: [...WRAP_ALGORITHMS],
      contentEncryptionAlgorithms: [CONTENT_ALGORITHM],
    });
    return bytes;
  } catch {
    throw new EncryptedPartFault('cannot be decrypted with the key that it names');
  }
}

function partOf(bytes: Uint8Array): Part {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isPart(value) && !isEncrypted(value)) return value;
  } catch {
    // The error after this block covers all of these faults.
  }
  throw new EncryptedPartFault('holds no part');
}

function readJwe(part: Part): PartJwe {
  const data = part.data !== undefined && isObject(part.data) ? part.data : {};
  const { jwe } = data;
  if (!isObject(jwe) || part.metadata?.[ENCRYPTION_EXTENSION] !== true)
    throw new EncryptedPartFault('must have data with a member jwe, and true in its metadata');
  const { protected: header, iv, ciphertext, tag, recipients, ...others } = jwe;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new EncryptedPartFault(`its jwe must have no member ${JSON.stringify(unknown.slice(0, 64))}`);
  if (!isText(header, LONGEST_HEADER) || !isText(iv, 64) || !isText(tag, 64) || !isText(ciphertext, LONGEST_CIPHERTEXT))
    throw new EncryptedPartFault('its jwe must have the texts protected, iv, ciphertext and tag, within their bounds');
  if (!Array.isArray(recipients) || recipients.length === 0 || recipients.length > MOST_RECIPIENTS)
    throw new EncryptedPartFault(`its jwe must have 1 to ${MOST_RECIPIENTS} recipients`);
  for (const recipient of recipients as unknown[]) checkRecipient(recipient);
  return jwe as unknown as PartJwe;
}

function checkRecipient(recipient: unknown): void {
  const { encrypted_key: key, header } = isObject(recipient) ? recipient : {};
  if (!isText(key, LONGEST_KEY) || !isObject(header))
    throw new EncryptedPartFault('each recipient must have an encrypted_key and a header');
  if (
    !Object.keys(header).every((name) => ['alg', 'kid', 'epk'].includes(name)) ||
    JSON.stringify(header).length > LONGEST_KEY
  )
    throw new EncryptedPartFault('the header of a recipient must have only alg, kid and epk');
  if (typeof header.alg !== 'string' || !WRAP_ALGORITHMS.includes(header.alg))
    throw new EncryptedPartFault(`the alg of a recipient must be one of ${WRAP_ALGORITHMS.join(', ')}`);
}

function headerOf(encoded: string, library: typeof Jose): JsonObject {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(library.base64url.decode(encoded)));
  } catch {
    header = undefined;
  }
  if (!isObject(header)) throw new EncryptedPartFault('its protected header cannot be read');
  // Also refuses `zip` and `crit`, because a small compressed part could expand to a huge one.
  const unknown = Object.keys(header).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined)
    throw new EncryptedPartFault(`its header must have no member ${JSON.stringify(unknown.slice(0, 64))}`);
  if (header.typ !== TYPE || header.enc !== CONTENT_ALGORITHM)
    throw new EncryptedPartFault(`its typ must be ${TYPE}, and its enc ${CONTENT_ALGORITHM}`);
  return header as JsonObject;
}

function checkPlace(header: JsonObject, place: PartPlace): void {
  const names = ['messageId', 'taskId', 'artifactId', 'index', 'parts'] as const;
  const expected: Readonly<Partial<Record<(typeof names)[number], unknown>>> = place;
  const isChunk = 'artifactId' in place && place.index === undefined;
  const other = names.find((name) => !(isChunk && name === 'index') && header[name] !== expected[name]);
  if (other !== undefined) throw new EncryptedPartFault(`belongs to another place (${other})`);
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest;
}
