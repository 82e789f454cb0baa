import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { grantedBy, keepEntry } from '../serve/credential-file.js';
import { secretInput } from '../serve/secret-input.js';

/** Hashes a password for HTTP Basic. Reads it from standard input, or twice from a prompt. */
export async function run({ args: [subject = ''], settings, output }: Invocation): Promise<number> {
  if (subject === '' || subject.includes(':')) {
    throw usageError('passwords hash takes the name of the user, without a colon', 'parley passwords hash ada');
  }
  const password = await secretInput('password', { isNew: true });
  if (/\p{Cc}/u.test(password)) throw usageError('a password has no control characters');
  const { hashPassword } = await import('parley-a2a/auth');
  const passwordHash = await hashPassword(password);
  const file = { flag: 'basic-users-file', replaces: true } as const;
  keepEntry({ subject, passwordHash, ...grantedBy(settings) }, { settings, output, file });
  return 0;
}
