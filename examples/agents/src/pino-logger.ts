import type { LogFields, Logger, LogLevel } from 'parley-a2a';
import { pino } from 'pino';

/** The library's log lines as JSON on standard output. */
export function pinoLogger(level: LogLevel): Logger {
  const log = pino({ level });
  return {
    debug: (message, fields) => log.debug(toPino(fields), message),
    info: (message, fields) => log.info(toPino(fields), message),
    warn: (message, fields) => log.warn(toPino(fields), message),
    error: (message, fields) => log.error(toPino(fields), message),
  };
}

/** Pino writes out errors, with stack and cause, where they are called `err`. */
function toPino({ error, ...fields }: LogFields = {}): object {
  return error === undefined ? fields : { ...fields, err: error };
}
