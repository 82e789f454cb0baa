import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { usageError } from '../failure/cli-error.js';

const LONGEST = 65_536;

/**
 * Reads a secret from standard input, without its final line break. In a terminal a prompt asks for it without echo.
 * A secret in an argument would be visible to other users of the machine.
 * @throws CliError for an empty or too long secret, and for a new secret whose repetition differs.
 */
export async function secretInput(label: string, { isNew = false } = {}): Promise<string> {
  const secret = process.stdin.isTTY ? await askSecret(label) : (await readPipe()).replace(/\r?\n$/, '');
  if (secret === '') throw usageError(`the ${label} is empty`, 'give it on standard input, or type it in');
  if (secret.length > LONGEST) throw usageError(`the ${label} is longer than ${LONGEST} characters`);
  if (isNew && process.stdin.isTTY && (await askSecret(`${label} again`)) !== secret)
    throw usageError('the two differ');
  return secret;
}

async function readPipe(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > 4 * LONGEST) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function askSecret(label: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(`${label}: `);
  return new Promise<string>((resolve, reject) => {
    lines.once('close', () => reject(usageError(`no ${label} was typed in`)));
    lines.question('', resolve);
  }).finally(() => {
    lines.close();
    process.stderr.write('\n');
  });
}
