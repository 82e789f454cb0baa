import type { Output } from '../output/output.js';
import type { Settings } from '../settings/settings.js';
import type { CommandTracing } from '../tracing/command-tracing.js';
import type { Command } from './command.js';
import type { FlagName } from './flags.js';

/** A flag as given on the command line. */
export interface GivenFlag {
  readonly name: FlagName;
  /** `true` for a flag without a value. */
  readonly value: string | true;
}

/** Everything that a command needs to run. */
export interface Invocation {
  readonly command: Command;
  /** Arguments after the words of the command, without flags. */
  readonly args: readonly string[];
  /** Flags in the order of the command line. */
  readonly given: readonly GivenFlag[];
  readonly settings: Settings;
  readonly output: Output;
  /** Undefined if no variable enables tracing. */
  readonly tracing: CommandTracing | undefined;
}
