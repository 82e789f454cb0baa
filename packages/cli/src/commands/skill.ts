import { readFileSync } from 'node:fs';
import type { Invocation } from '../command-line/invocation.js';

/** Prints the skill that teaches an agent this tool. */
export async function run({ output }: Invocation): Promise<number> {
  output.raw(readFileSync(new URL('../../skill/SKILL.md', import.meta.url), 'utf8'));
  return 0;
}
