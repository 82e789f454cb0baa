import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { CardJwk, CardSigningOptions } from '../agent-card/signatures/card-signing-options.js';
import { OptionsError } from '../errors/options-error.js';
import { checkOptions } from '../options/check-options.js';
import { optionObject, text } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { refuseArgument } from '../options/refuse-argument.js';

const { readFile } = process.getBuiltinModule('node:fs/promises');

/**
 * Reads keys for the signatures of agent cards from files: PEM, JSON Web Keys or key sets. A private key signs, a
 * public key is only published.
 * @throws OptionsError naming every file that holds no key.
 */
export async function readCardKeys(paths: readonly string[]): Promise<CardJwk[]> {
  if (!Array.isArray(paths)) refuseArgument('readCardKeys', 'a list of paths', paths);
  const problems: string[] = [];
  const keys: CardJwk[] = [];
  for (const path of paths) {
    try {
      keys.push(...keysIn(await readFile(path, 'utf8')));
    } catch {
      // The cause may quote the content of the file.
      problems.push(`"${path}" cannot be read as a key in PEM or as a JSON Web Key`);
    }
  }
  if (problems.length > 0) throw new OptionsError('Card keys', problems);
  return keys;
}

/** Keys for `signCard`. */
export interface SignCardOptions extends CardSigningOptions {
  /** The url of the public keys. Signatures name it (`jku`) if it is https. */
  readonly jwksUrl?: string;
}

const signSchema = optionObject({ keys: Type.Array(Type.Object({}), { minItems: 1 }), jwksUrl: Type.Optional(text) });

/**
 * Signs an agent card (Spec §8.4) of any version, as a server with `cardSigning` does. Signatures that the card has are
 * replaced. Needs `jose`.
 * @throws OptionsError naming every key that cannot be used.
 */
export async function signCard(card: object, options: SignCardOptions): Promise<object> {
  if (Object(card) !== card) refuseArgument('signCard', 'a card and its keys', card);
  const { keys, jwksUrl = '' } = checkOptions({ subject: 'signCard', schema: signSchema, options });
  const { SignedCards } = await import('../app/signed-cards.js');
  const signer = await SignedCards.by({ keys }, jwksUrl);
  return JSON.parse(await signer.sign(JSON.stringify(card))) as object;
}

function keysIn(text: string): readonly CardJwk[] {
  if (!text.trimStart().startsWith('{')) return [fromPem(text)];
  const value = JSON.parse(text) as CardJwk & { readonly keys?: readonly CardJwk[] };
  const keys = value.keys ?? [value];
  if (!keys.every(({ kty }) => typeof kty === 'string')) throw new Error('not a key');
  return keys;
}

function fromPem(text: string): CardJwk {
  const key = text.includes('PRIVATE KEY') ? createPrivateKey(text) : createPublicKey(text);
  return key.export({ format: 'jwk' }) as CardJwk;
}
