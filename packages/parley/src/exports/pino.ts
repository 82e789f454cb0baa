import { stdout } from 'node:process';
import { type Logger as Pino, pino } from 'pino';
import { checkOptions } from '../options/check-options.js';
import { closed, withMethod } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { Logger } from '../telemetry/logger.js';
import { toPino } from '../telemetry/pino/pino-logger.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { LOG_LEVELS, type LogLevel } from '../telemetry/text-logger.js';

/** The pino that writes. */
export type PinoLoggerOptions =
  /** A new one that writes JSON to standard output, from this level on; default `info`. */
  | { readonly level?: LogLevel; readonly pino?: never }
  /** The one of the application. */
  | { readonly pino: Pino; readonly level?: never };

const pinoSchema = closed({
  level: Type.Optional(Type.String({ enum: [...LOG_LEVELS] })),
  pino: Type.Optional(withMethod('child')),
});

/**
 * A logger that writes JSON lines with pino. Leaves out credentials in all fields.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function pinoLogger(options: PinoLoggerOptions = {}): Logger {
  checkOptions({ subject: 'pinoLogger', schema: pinoSchema, options });
  return steadyLogger(toPino(options.pino ?? pino({ level: options.level ?? 'info' }, standardOutput())));
}

/**
 * Standard output of Node.js. The default of pino retries forever and keeps the process alive if the reader has gone.
 */
function standardOutput(): NodeJS.WriteStream {
  if (!stdout.listeners('error').includes(goOn)) stdout.on('error', goOn);
  return stdout;
}

/** The server goes on if the reader of its log has gone. */
function goOn(): void {}
