import { createHash, randomBytes } from 'node:crypto';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { grantedBy, keepEntry } from '../serve/credential-file.js';
import { secretInput } from '../serve/secret-input.js';

const FILE = { flag: 'api-keys-file', replaces: false } as const;
/** Visible ASCII characters without spaces, so that the key fits into a header. */
const KEY = /^[!-~]{1,4096}$/;
/** A shorter key can be found from its hash by guessing. */
const SHORT_KEY = 20;

/** Makes an API key for a caller. Prints the key once; the server's file stores only its hash. */
export async function create({ args: [subject = ''], settings, output }: Invocation): Promise<number> {
  if (subject === '') throw usageError('keys create takes the name of the caller', 'parley keys create ada');
  const key = `parley_${randomBytes(32).toString('base64url')}`;
  keepEntry({ subject, sha256: sha256Of(key), ...grantedBy(settings) }, { settings, output, file: FILE, key });
  return 0;
}

/** Hashes an existing API key, read from standard input or a prompt. */
export async function hash({ args: [subject = ''], settings, output }: Invocation): Promise<number> {
  if (subject === '') throw usageError('keys hash takes the name of the caller', 'parley keys hash ada');
  const key = await secretInput('API key');
  if (!KEY.test(key)) throw usageError('an API key has 1 to 4,096 visible characters, and no blanks');
  if (key.length < SHORT_KEY) {
    output.warn(
      `the key has fewer than ${SHORT_KEY} characters: its hash does not hide it. parley keys create makes one`,
    );
  }
  keepEntry({ subject, sha256: sha256Of(key), ...grantedBy(settings) }, { settings, output, file: FILE });
  return 0;
}

function sha256Of(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
