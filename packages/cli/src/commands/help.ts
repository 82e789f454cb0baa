import { helpText } from '../command-line/help-text.js';
import type { Invocation } from '../command-line/invocation.js';
import { checkHelpWords } from '../command-line/parse.js';

/** Prints help for all of it, or for the command that is named. */
export async function run({ args, settings, output }: Invocation): Promise<number> {
  checkHelpWords(args);
  output.raw(helpText(args, settings));
  return 0;
}
