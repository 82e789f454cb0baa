import type { LogFields, Logger } from './logger.js';

/** A logger that never throws. If a line with its fields cannot be written, it is written without them. */
export function steadyLogger(logger: Logger): Logger {
  const writerOf = (level: keyof Logger) => (message: string, fields?: LogFields) => {
    try {
      logger[level](message, fields);
    } catch {
      try {
        logger[level](message);
      } catch {}
    }
  };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}
