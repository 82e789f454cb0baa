import type { Output } from '../output/output.js';
import type { Settings } from '../settings/settings.js';
import type { Command } from './command.js';
import type { FlagName } from './flags.js';

/** A flag as it was written. */
export interface GivenFlag {
  readonly name: FlagName;
  /** `true` for one that takes no value. */
  readonly value: string | true;
}

/** All that a command is run with. */
export interface Invocation {
  readonly command: Command;
  /** What was written beside the words of the command and the flags. */
  readonly args: readonly string[];
  /** Flags in the order in which they were written. */
  readonly given: readonly GivenFlag[];
  readonly settings: Settings;
  readonly output: Output;
}
