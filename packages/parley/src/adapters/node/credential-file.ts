import { readFile, stat } from 'node:fs/promises';
import { OptionsError } from '../../errors/options-error.js';
import { refuseArgument } from '../../options/refuse-argument.js';

/**
 * Makes a source for an authenticator from a JSON file with a list of credentials. The file is parsed again only after
 * a change. The source rejects if the file cannot be read, or is no list of objects.
 */
export function credentialFile<Entry>(path: string): () => Promise<readonly Entry[]> {
  if (typeof path !== 'string' || path === '') refuseArgument('A file of credentials', 'its path', path);
  let known: { readonly stamp: string; readonly entries: readonly Entry[] } | undefined;
  return async () => {
    const { mtimeMs, size, ino } = await readable(path, () => stat(path));
    const stamp = `${mtimeMs} ${size} ${ino}`;
    if (known?.stamp !== stamp) {
      const text = await readable(path, () => readFile(path, 'utf8'));
      known = { stamp, entries: parseList<Entry>(path, text) };
    }
    return known.entries;
  };
}

async function readable<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw new OptionsError(path, [`the file cannot be read (${String(code)})`]);
  }
}

function parseList<Entry>(path: string, text: string): readonly Entry[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser could quote a secret.
    throw new OptionsError(path, ['the file is no JSON']);
  }
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
  if (!isList) throw new OptionsError(path, ['the file must be a list of objects']);
  return value as readonly Entry[];
}
