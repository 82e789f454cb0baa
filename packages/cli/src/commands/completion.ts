import type { Invocation } from '../command-line/invocation.js';
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/completion-scripts.js';
import { usageError } from '../failure/cli-error.js';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** Prints the completion script of a shell. */
export async function run({ args: [shell = ''], output }: Invocation): Promise<number> {
  const script = Object.entries(SHELLS).find(([name]) => name === shell)?.[1];
  if (script === undefined) throw usageError(`there is no completion for "${shell}"; there is for bash, zsh and fish`);
  output.raw(script());
  return 0;
}
