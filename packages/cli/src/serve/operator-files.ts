import { readFileSync } from 'node:fs';
import { type FileAuditLog, openAuditFile } from 'parley-a2a/node';
import { variableTexts } from '../command-line/flags.js';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';

/** The audit log and the keys for secrets of a server. */
export interface OperatorFiles {
  /** Must be closed after the server. */
  readonly audit?: FileAuditLog;
  readonly secretKeys?: readonly string[];
}

/**
 * Opens the files in the flags. Without a key file, `A2A_SECRET_KEYS` contains the keys.
 * @throws CliError if a file cannot be read or written. It never quotes a key file.
 */
export async function operatorFiles(settings: Settings): Promise<OperatorFiles> {
  const secretKeys = secretKeysOf(settings);
  const auditPath = settings.text('audit-file');
  const audit = auditPath === undefined ? undefined : await auditIn({ path: auditPath, reopenAtSighup: true });
  return { ...(audit && { audit }), ...(secretKeys && { secretKeys }) };
}

/**
 * Returns the keys of the key file, or those of `A2A_SECRET_KEYS`.
 * @throws CliError if the file cannot be read or contains no key.
 */
export function secretKeysOf(settings: Settings): readonly string[] | undefined {
  const path = settings.text('secret-keys-file');
  if (path !== undefined) return secretKeysIn(path);
  const keys = variableTexts('secretKeys');
  return keys.length === 0 ? undefined : keys;
}

/** Returns the keys of a file, separated by line breaks or commas. The server validates them. */
function secretKeysIn(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(`${path}: the keys cannot be read (${codeOf(error)})`, 'choose another --secret-keys-file');
  }
  const keys = keysOf(text);
  if (keys.length === 0) throw usageError(`${path} holds no key`, 'openssl rand -base64 32');
  return keys;
}

function keysOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((key) => key !== '');
}

/**
 * Opens an audit log.
 * @throws CliError if the file cannot be opened.
 */
export async function auditIn(options: Parameters<typeof openAuditFile>[0]): Promise<FileAuditLog> {
  try {
    return await openAuditFile(options);
  } catch (error) {
    throw usageError(
      `${options.path}: the audit log cannot be opened (${codeOf(error)})`,
      'choose another --audit-file',
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
