import type { LogFields, Logger } from 'parley-a2a';
import { printableText, withoutSecretFields, withoutSecrets } from 'parley-a2a/kit';
import type { LevelWithSilent, Logger as Pino } from 'pino';

type Level = Exclude<LevelWithSilent, 'silent' | 'trace' | 'fatal'>;

/** A logger that writes through pino, without credentials. A line below the level of pino costs only the call. */
export function toPino(pino: Pino): Logger {
  const writerOf = (level: Level) => (message: string, fields?: LogFields) => {
    if (!pino.isLevelEnabled(level)) return;
    pino[level](fields === undefined ? {} : membersOf(fields), printableText(withoutSecrets(message)));
  };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}

/** Tools for pino expect errors under `err`. */
function membersOf(fields: LogFields): object {
  const { error, ...others } = withoutSecretFields(fields);
  return error === undefined ? others : { ...others, err: error };
}
