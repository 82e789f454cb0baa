import { readFileSync } from 'node:fs';
import type { Invocation } from '../command-line/invocation.js';
import { PACKAGE_ROOT } from '../package-root.js';

/** Prints the agent skill for this tool. */
export async function run({ output }: Invocation): Promise<number> {
  output.raw(readFileSync(new URL('skill/SKILL.md', PACKAGE_ROOT), 'utf8'));
  return 0;
}
