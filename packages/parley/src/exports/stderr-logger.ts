import { stderr } from 'node:process';
import type { Logger } from '../telemetry/logger.js';
import { textLogger } from '../telemetry/text-logger.js';

/** Where warnings and errors go when nobody has given a logger. */
export const stderrLogger: Logger = textLogger({
  write: (line) => stderr.write(line),
  now: Date.now,
  level: 'warn',
});
