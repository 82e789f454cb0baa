import { readFileSync } from 'node:fs';
import type { Invocation } from '../command-line/invocation.js';
import { CliError, usageError } from '../failure/cli-error.js';
import { parseJson } from '../settings/settings.js';

/** Signs a card with the keys of files, as a server with `cardSigning` does. Prints the card with its signatures. */
export async function run({ args: [path = ''], settings, output }: Invocation): Promise<number> {
  const paths = settings.list('signing-key');
  if (paths.length === 0) {
    throw usageError(
      '--signing-key names the file of a private key',
      'parley card sign card.json --signing-key card-key.pem',
    );
  }
  const jku = settings.text('jku');
  if (jku !== undefined && URL.parse(jku)?.protocol !== 'https:') throw usageError('--jku is an https URL');
  const card = cardIn(path);
  const { readCardKeys, signCard } = await import('parley-a2a/node');
  const keys = await readCardKeys(paths);
  output.document(await signCard(card, { keys, ...(jku !== undefined && { jwksUrl: jku }) }));
  return 0;
}

function cardIn(path: string): object {
  const value = parseJson(path === '-' ? readFileSync(0, 'utf8') : textOf(path));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new CliError('A2ACLI_ERR_CARD_INVALID', `${path === '-' ? 'standard input' : path} is no JSON object`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `${path} cannot be read (${code})`);
  }
}
