import { helpText } from '../command-line/help-text.js';
import type { Invocation } from '../command-line/invocation.js';
import { checkHelpWords } from '../command-line/parse.js';

/** Prints the help of the tool, or of one command. */
export async function run({ args, settings, output }: Invocation): Promise<number> {
  checkHelpWords(args);
  output.raw(helpText(args, settings));
  return 0;
}
