import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { CardJwk } from '../agent-card/signatures/card-signing-options.js';
import { OptionsError } from '../errors/options-error.js';

const { readFile } = process.getBuiltinModule('node:fs/promises');

/**
 * Reads keys for the signatures of agent cards from files: PEM, JSON Web Keys or key sets. A private key signs, a
 * public key is only published.
 * @throws OptionsError naming every file that holds no key.
 */
export async function readCardKeys(paths: readonly string[]): Promise<CardJwk[]> {
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
