import { helpText } from '../command-line/help-text.js';
import type { Invocation } from '../command-line/invocation.js';

/** Prints help for all of it, or for the command that is named. */
export async function run({ args, settings, output }: Invocation): Promise<number> {
  output.raw(helpText(args, settings));
  return 0;
}
