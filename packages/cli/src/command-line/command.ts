import type { FlagName } from './flags.js';

/** One command of the tree. */
export interface Command {
  /** Its words, such as `task get`. */
  readonly path: string;
  readonly summary: string;
  /** Its arguments in the help: `<id>` is required, `[id]` is not. */
  readonly args?: string;
  /** Its own flags, beside the global ones. */
  readonly flags: readonly FlagName[];
  readonly aliases?: readonly string[];
  /** A command line that works. */
  readonly example: string;
  /** Something else to know, for the help. */
  readonly notes?: string;
}
