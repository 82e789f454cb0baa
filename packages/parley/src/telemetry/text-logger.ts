import type { LogFields, Logger } from './logger.js';
import { printableLine, printableText } from './printable-text.js';
import { isSecretName, withoutSecrets } from './redaction.js';

/** Levels of a logger, from most to least output. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Options of a text logger. */
export interface TextLoggerPorts {
  /** Writes one line, which includes its line end. */
  readonly write: (line: string) => void;
  /** Wall-clock time, ms since the epoch. */
  readonly now: () => number;
  /** Lines below this level are discarded. */
  readonly level: LogLevel;
}

const MAX_CAUSES = 10;

/**
 * A logger for people: time, level, message, then the fields as JSON. The stack of an error follows on indented lines.
 * Credentials are redacted. Characters that control a terminal or are invisible become escapes, so no text from outside
 * can begin a line.
 */
export function textLogger({ write, now, level }: TextLoggerPorts): Logger {
  const least = LOG_LEVELS.indexOf(level);
  const writerOf = (name: LogLevel) => {
    if (LOG_LEVELS.indexOf(name) < least) return () => {};
    return (message: string, fields?: LogFields) =>
      write(
        `${new Date(now()).toISOString()} ${name} ${withoutSecrets(`${printableLine(message)}${fieldsText(fields)}`)}\n`,
      );
  };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}

function fieldsText(fields: LogFields | undefined): string {
  if (fields === undefined) return '';
  const { error, ...plain } = fields;
  const text = Object.keys(plain).length === 0 ? '' : ` ${printableText(jsonText(plain))}`;
  return error === undefined ? text : `${text}\n  ${printableText(errorText(error)).replaceAll('\n', '\n  ')}`;
}

/** Returns the text of any thrown value. Never throws, even if the value does. */
function errorText(error: unknown, depth = 0): string {
  try {
    if (!(error instanceof Error)) return typeof error === 'object' ? jsonText(error) : String(error);
    const text = error.stack ?? String(error);
    if (error.cause === undefined || depth === MAX_CAUSES) return text;
    return `${text}\ncaused by ${errorText(error.cause, depth + 1)}`;
  } catch {
    return '[not readable]';
  }
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, (name, member: unknown) => {
      if (member !== undefined && isSecretName(name)) return '[redacted]';
      return typeof member === 'bigint' ? String(member) : member;
    });
  } catch {
    return '[not JSON]';
  }
}
