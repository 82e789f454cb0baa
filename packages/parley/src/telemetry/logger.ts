/** Fields of a log line in addition to its text: plain values, and errors under `error`. Never credentials. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The log of the library. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** A logger that discards everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
