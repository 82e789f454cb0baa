import type { FlagName } from './flags.js';

/** A command of the tool. */
export interface Command {
  /** Words of the command, such as `task get`. */
  readonly path: string;
  readonly summary: string;
  /** Arguments in the help: `<id>` is required, `[id]` is optional. */
  readonly args?: string;
  /** Flags of the command, without the global ones. */
  readonly flags: readonly FlagName[];
  readonly aliases?: readonly string[];
  /** True for a command that gets everything after its path as arguments, and parses its own flags. */
  readonly hasOwnFlags?: boolean;
  /** An example that works. */
  readonly example: string;
  /** Further notes for the help. */
  readonly notes?: string;
}
