import type { LogFields, Logger } from './logger.js';

/** A logger that is no reason to fail: what the one given cannot write down with its fields is written without them. */
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
