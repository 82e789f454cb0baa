import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { usageError } from '../failure/cli-error.js';
import type { Output } from '../output/output.js';
import type { Settings } from '../settings/settings.js';

/** An entry of a file of callers. It contains no secret. */
interface CredentialEntry {
  readonly subject: string;
  readonly [member: string]: unknown;
}

/** A file of callers, and the handling of an earlier entry of the same caller. */
interface CredentialFile {
  readonly flag: 'api-keys-file' | 'basic-users-file';
  readonly replaces: boolean;
}

/** Returns the scopes and the expiry of an entry from the flags. */
export function grantedBy(settings: Settings): { readonly scopes?: readonly string[]; readonly expiresAt?: string } {
  const scopes = settings.list('scope').flatMap((scope) => scope.split(/\s+/));
  const expiresIn = settings.duration('expires');
  return {
    ...(scopes.length > 0 && { scopes }),
    ...(expiresIn !== undefined && { expiresAt: new Date(Date.now() + expiresIn).toISOString() }),
  };
}

/** Adds an entry to the file of a flag, or prints it. `key`: a new key, which is printed once. */
export function keepEntry(
  entry: CredentialEntry,
  { settings, output, file, key }: { settings: Settings; output: Output; file: CredentialFile; key?: string },
): void {
  const path = settings.text(file.flag);
  if (path !== undefined) addTo(path, entry, file);
  if (output.json) {
    output.document({ ...(key !== undefined && { key }), entry, ...(path !== undefined && { file: path }) });
    return;
  }
  output.field('Key', key);
  if (path !== undefined) return output.field('File', path);
  output.field('Entry', JSON.stringify(entry));
  output.field('A2A_API_KEYS', settingOf(entry));
}

/** The entry for the variable. That has no scopes, no end and no other characters in names. */
function settingOf({ subject, sha256, ...more }: CredentialEntry): string | undefined {
  const fits = typeof sha256 === 'string' && Object.keys(more).length === 0 && !/[,=\s]/.test(subject);
  return fits ? `${subject}=sha256:${sha256}` : undefined;
}

/** Replaces the file atomically, so that a server never reads a partial file. */
function addTo(path: string, entry: CredentialEntry, { flag, replaces }: CredentialFile): void {
  const entries = existsSync(path) ? entriesOf(path, flag) : [];
  const others = replaces ? entries.filter((one) => subjectOf(one) !== entry.subject) : entries;
  const lines = [...others, entry].map((one) => `  ${JSON.stringify(one)}`);
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, `[\n${lines.join(',\n')}\n]\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, path);
}

function entriesOf(path: string, flag: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Dropped, because the text of the error could quote a secret.
  }
  if (!Array.isArray(value)) {
    throw usageError(
      `${path} is no list of ${flag === 'api-keys-file' ? 'keys' : 'users'}`,
      `choose another --${flag}`,
    );
  }
  return value;
}

function subjectOf(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'subject' in entry ? entry.subject : undefined;
}
