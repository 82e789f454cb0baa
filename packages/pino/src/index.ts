import { stdout } from 'node:process';
import type { Logger, LogLevel } from 'parley-a2a';
import { checkOptions, LOG_LEVELS, optionObject, steadyLogger, Type, withMethod } from 'parley-a2a/kit';
import { type Logger as Pino, pino } from 'pino';
import { toPino } from './pino-logger.js';

/** The pino that writes. */
type PinoLoggerOptions =
  /** A new one that writes JSON to standard output, from this level on; default `info`. */
  | { readonly level?: LogLevel; readonly pino?: never }
  /** The one of the application. */
  | { readonly pino: Pino; readonly level?: never };

const pinoSchema = optionObject({
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
 * Standard output of Node.js. With its own default, pino retries forever and keeps the process alive after the reader
 * has closed the pipe.
 */
function standardOutput(): NodeJS.WriteStream {
  if (!stdout.listeners('error').includes(goOn)) stdout.on('error', goOn);
  return stdout;
}

/** Ignores the error of a closed pipe, so that the server goes on. */
function goOn(): void {}
