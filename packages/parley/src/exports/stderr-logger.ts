import { stderr } from 'node:process';
import type { Logger } from '../telemetry/logger.js';
import { textLogger } from '../telemetry/text-logger.js';

/** The default logger: warnings and errors to standard error. */
export const stderrLogger: Logger = textLogger({
  write: (line) => stderr.write(line),
  now: Date.now,
  level: 'warn',
});
