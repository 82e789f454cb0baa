import type { CommandLine } from '../command-line/parse.js';
import type { Output } from '../output/output.js';
import { type Failure, failureOf } from './failure.js';
import { ReportedFailure } from './reported-failure.js';

/** Options of a report. */
interface ReportContext {
  readonly output: Output;
  readonly argv: readonly string[];
  readonly line: CommandLine | undefined;
}

/** Prints an error with a hint and returns the exit code. `-o json` writes an object to stdout. */
export async function report(error: unknown, { output, argv, line }: ReportContext): Promise<number> {
  const failure = error instanceof ReportedFailure ? error.failure : failureOf(error);
  output.endProgress();
  const streaming = line?.command?.path === 'chat' || line?.given.some(({ name }) => name === 'stream') === true;
  writeFailure(output, failure, streaming);
  const thrown = error instanceof ReportedFailure ? error.cause : error;
  const isDebugging = argv.includes('--debug') || ['true', '1'].includes(process.env.A2ACLI_DEBUG ?? '');
  if (isDebugging && thrown instanceof Error) {
    const { redactor } = await import('parley-a2a/credentials');
    output.note(redactor()(thrown.stack ?? thrown.message));
  }
  return failure.exit;
}

/** Writes a failure: text to stderr, or an object to stdout. `asLine` writes the object in one line. */
export function writeFailure(output: Output, failure: Failure, asLine: boolean): void {
  if (output.json) {
    const body = { error: bodyOf(failure) };
    if (asLine) output.line(body);
    else output.document(body);
    return;
  }
  output.fail(`${failure.code}: ${failure.message}${failure.a2aCode === null ? '' : ` (${failure.a2aCode})`}`);
  if (failure.hint !== null) output.note(`hint: ${failure.hint}`);
}

function bodyOf({ code, message, hint, a2aCode }: Failure): object {
  return { code, message, hint, a2aCode };
}
