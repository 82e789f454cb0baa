import { readFileSync } from 'node:fs';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { PROTOCOL_NAMES } from '../failure/failure.js';
import type { Output } from '../output/output.js';
import { PACKAGE_ROOT } from '../package-root.js';

/** The error reference, in the form of `docs/errors.json`. */
interface ErrorReference {
  readonly errors: readonly ProtocolRow[];
  readonly commandLine: readonly LocalRow[];
}

interface ProtocolRow extends Explanation {
  readonly class: string;
  readonly jsonRpc: number;
  readonly http: number;
  readonly grpc: string;
}

interface LocalRow extends Explanation {
  readonly exit: number;
}

interface Explanation {
  readonly code: string;
  readonly when: string;
  readonly whatToDo: string;
}

/** Explains errors: one by code, name or number, or all of them. */
export async function run({ args: [asked], output }: Invocation): Promise<number> {
  const { errors, commandLine } = JSON.parse(
    readFileSync(new URL('bundle/errors.json', PACKAGE_ROOT), 'utf8'),
  ) as ErrorReference;
  const all = [...errors, ...commandLine];
  const found = asked === undefined ? all : all.filter((row) => namesOf(row).includes(asked.toLowerCase()));
  if (found.length === 0) throw usageError(`the reference has no error "${asked}"`, 'parley error lists them all');
  if (output.json) output.document(asked === undefined ? { errors, commandLine } : { errors: found });
  else if (asked === undefined)
    output.block('Errors', all.map(({ code, when }) => `${code}: ${plain(when)}`).join('\n'));
  else for (const row of found) explain(output, row);
  return 0;
}

/** Returns the names of an error, in lower case. */
function namesOf(row: ProtocolRow | LocalRow): readonly string[] {
  const names = 'exit' in row ? [] : [nameOf(row), row.class, String(row.jsonRpc), String(-row.jsonRpc)];
  return [row.code, ...names.filter((name) => name !== 'A2AError')].map((name) => name.toLowerCase());
}

function nameOf({ code, class: ownClass }: ProtocolRow): string {
  return PROTOCOL_NAMES[code] ?? ownClass;
}

function explain(output: Output, row: ProtocolRow | LocalRow): void {
  output.field('Code', row.code);
  if ('exit' in row) output.field('Exit', String(row.exit));
  else {
    output.field('Name', nameOf(row));
    output.field('JSON-RPC', String(row.jsonRpc));
    output.field('HTTP', String(row.http));
    output.field('gRPC', row.grpc);
  }
  output.field('When', plain(row.when));
  output.field('What to do', plain(row.whatToDo));
  output.raw('\n');
}

/** Removes Markdown from a text. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}
