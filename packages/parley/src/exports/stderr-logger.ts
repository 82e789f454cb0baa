import type { Logger } from '../telemetry/logger.js';
import { textLogger } from '../telemetry/text-logger.js';

/** The default logger: warnings and errors to standard error. */
export const stderrLogger: Logger = textLogger({
  // Loads no module, because storages of hosts without Node.js share files with this one.
  write: (line) => process.getBuiltinModule('node:process').stderr.write(line),
  now: Date.now,
  level: 'warn',
});
