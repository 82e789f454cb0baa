import type { Invocation } from '../command-line/invocation.js';
import { CLI_SPECIFICATION, VERSION } from '../version.js';

/** Prints the version; with `--verbose` also the versions of the specifications. */
export async function run({ output }: Invocation): Promise<number> {
  if (output.json) output.document({ version: VERSION, specification: CLI_SPECIFICATION, node: process.version });
  else output.raw(`parley ${VERSION}\n`);
  if (!output.json && output.verbose) {
    output.field('Specification', `A2A command line clients ${CLI_SPECIFICATION}`);
    output.field('Node', process.version);
  }
  return 0;
}
