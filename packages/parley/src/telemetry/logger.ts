/** What a log line carries beside its text: plain values, errors under `error`. Never credentials. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where the library reports what never goes on the wire. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Says nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
