import { run as createProject, UsageError } from 'create-parley-a2a';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { NODE_RANGE, VERSION } from '../version.js';

/** Writes a project with a working agent, like `npm create parley-a2a`. */
export async function run({ args, output }: Invocation): Promise<number> {
  const { stdin, stdout } = process;
  const terminal = stdin.isTTY && stdout.isTTY ? { input: stdin, output: stdout } : undefined;
  const write = (text: string) => output.raw(text);
  try {
    await createProject(args, { program: 'parley init', version: VERSION, nodeRange: NODE_RANGE, write, terminal });
    return 0;
  } catch (error) {
    throw error instanceof UsageError ? usageError(error.message, 'parley init --help') : error;
  }
}
