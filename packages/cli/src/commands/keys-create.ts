import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';

/** Makes an API key for a caller. Prints the key once; the file of the server keeps its hash only. */
export async function run({ args: [subject = ''], settings, output }: Invocation): Promise<number> {
  if (subject === '') throw usageError('keys create takes the name of the caller', 'parley keys create ada');
  const path = settings.text('api-keys-file');
  const scopes = settings.list('scope').flatMap((scope) => scope.split(/\s+/));
  const expiresIn = settings.duration('expires');
  const key = `parley_${randomBytes(32).toString('base64url')}`;
  const entry = {
    subject,
    sha256: createHash('sha256').update(key).digest('hex'),
    ...(scopes.length > 0 && { scopes }),
    ...(expiresIn !== undefined && { expiresAt: new Date(Date.now() + expiresIn).toISOString() }),
  };
  if (path !== undefined) addTo(path, entry);
  if (output.json) {
    output.document({ key, entry, ...(path !== undefined && { file: path }) });
    return 0;
  }
  output.field('Key', key);
  if (path === undefined) output.field('Entry', JSON.stringify(entry));
  else output.field('File', path);
  return 0;
}

/** Replaces the file in one step, so that a server never reads half of it. */
function addTo(path: string, entry: object): void {
  const entries = existsSync(path) ? entriesOf(path) : [];
  const lines = [...entries, entry].map((one) => `  ${JSON.stringify(one)}`);
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, `[\n${lines.join(',\n')}\n]\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, path);
}

function entriesOf(path: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // The text of the error could quote a secret.
  }
  if (!Array.isArray(value)) throw usageError(`${path} is no list of keys`, 'choose another --api-keys-file');
  return value;
}
