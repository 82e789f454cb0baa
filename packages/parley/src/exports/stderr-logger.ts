import { checkOptions } from '../options/check-options.js';
import { func, optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { Logger } from '../telemetry/logger.js';
import { LOG_LEVELS, type TextLoggerPorts, textLogger as textLoggerOf } from '../telemetry/text-logger.js';

/** Options of `textLogger`. Default: lines from level `info` on to standard error, with the time of the machine. */
export type TextLoggerOptions = Partial<TextLoggerPorts>;

const schema = optionObject({
  write: Type.Optional(func),
  now: Type.Optional(func),
  level: Type.Optional(Type.String({ enum: [...LOG_LEVELS] })),
});

/**
 * A logger for people: time, level, message, then the fields as JSON. The stack of an error follows on indented lines.
 * Credentials are left out.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function textLogger(options: TextLoggerOptions = {}): Logger {
  const { write = toStderr, now = Date.now, level = 'info' } = checkOptions({ subject: 'textLogger', schema, options });
  return textLoggerOf({ write, now, level });
}

function toStderr(line: string): void {
  // Imports no module, because storages on hosts without Node.js load this file, too.
  process.getBuiltinModule('node:process').stderr.write(line);
}

/** The default logger: warnings and errors to standard error. */
export const stderrLogger: Logger = textLogger({ level: 'warn' });
