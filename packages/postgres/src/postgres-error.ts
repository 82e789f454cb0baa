import { StorageError, type StorageErrorOptions } from 'parley-a2a/storage-engine';

/** A failure of PostgreSQL, or of the connection to it. */
export class PostgresError extends StorageError {
  /** `unknown`: the connection ended before the answer came, so the write may have been committed. */
  readonly written: 'no' | 'unknown';
  /** True if the server or the connection fails, independently of the call. */
  readonly isOutage: boolean;
  /** The SQLSTATE code of the server; absent without an answer. */
  readonly sqlState: string | undefined;

  constructor(message: string, options: PostgresErrorOptions) {
    super(message, options);
    this.written = options.written;
    this.isOutage = options.isOutage;
    this.sqlState = options.sqlState;
  }
}

/** Options of an error. */
interface PostgresErrorOptions extends StorageErrorOptions {
  readonly written: 'no' | 'unknown';
  readonly isOutage: boolean;
  readonly sqlState?: string | undefined;
}

/** The progress of a statement when it failed. */
export type SendingState = 'not-sent' | 'sent';

const READ_ONLY = '25006';
const PAUSE = '25P03';

const MIXED = 'a pooler mixes the prepared statements of its clients: add pooled=transaction to the url';

/** By SQLSTATE: the reason, and the remedy. */
const REASONS: Readonly<Record<string, string>> = {
  [READ_ONLY]: 'the database is read-only: connect to the primary server, or end its read-only mode',
  '26000': MIXED,
  '42P05': MIXED,
  [PAUSE]: 'the process paused within a transaction, and the server ended it',
  '28000': 'the server refuses this user: check the user of the url and pg_hba.conf',
  '28P01': 'the server refuses the password of this user',
  '3D000': 'there is no such database: create it',
  '42501': 'this user may not do that: grant it the rights on the schema',
  '53100': 'there is no space left on the disk of the server: make room',
  '53200': 'the server has no memory left',
  '53300': 'the server takes no more connections: lower poolSize, or raise max_connections',
  '57014': 'a statement took too long, and the server ended it: raise statementTimeoutMs if that is right',
  '57P01': 'the server is being stopped',
  '57P02': 'the server has crashed and restarts',
  '57P03': 'the server is starting or stopping',
  '58030': 'the disk of the server fails: look into its log',
  XX001: 'a row on the disk of the server is damaged: look into its log',
  XX002: 'an index on the disk of the server is damaged: REINDEX it',
};

/** Errors of pgbouncer, which uses the same code for many of them. */
const OF_POOLER: readonly (readonly [message: RegExp, reason: string])[] = [
  [
    /unsupported startup parameter/,
    'a pooler refuses the settings of a connection: add pooled=transaction to the url, or for listenUrl name the server',
  ],
  [/no more connections allowed/, 'the pooler takes no more clients: lower poolSize, or raise its max_client_conn'],
  [/query_wait_timeout/, 'the pooler had no free connection: lower poolSize, or raise its default_pool_size'],
];

const BY_SYSTEM: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name could not be looked up',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its host cannot be reached',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
};

/** Classes of codes that are about the server and not a statement: connections, resources, operators, the system. */
const OUTAGES = /^(?:08|25006|25P03|28|3D|53|57P|58)/;
/** Codes of conflicts with another transaction: it was rolled back and can be repeated. */
const CONFLICTS = /^40(?:001|P01)$/;

/** Converts an error of the library `pg`. `subject`: the server, for the message. */
export function postgresError(error: unknown, subject: string, sending: SendingState): PostgresError {
  if (error instanceof PostgresError) return error;
  const { code, severity, message } = detailsOf(error);
  const sqlState = code !== undefined && /^[\dA-Z]{5}$/.test(code) && !(code in BY_SYSTEM) ? code : undefined;
  if (sqlState !== undefined) {
    const isOutage = OUTAGES.test(sqlState);
    // An error of severity ERROR rolls the statement back. A fatal one may come after the commit.
    const written = sending === 'sent' && severity !== 'ERROR' ? 'unknown' : 'no';
    const reason = OF_POOLER.find(([pattern]) => pattern.test(message))?.[1] ?? REASONS[sqlState];
    const text = reason === undefined ? `${message} (${sqlState})` : `${reason} (${message})`;
    return new PostgresError(`PostgreSQL at ${subject}: ${text}`, {
      cause: error,
      written,
      isOutage,
      sqlState,
      reason: reason ?? `the server refuses a statement (${sqlState})`,
    });
  }
  const isBusy = /timeout exceeded when trying to connect/.test(message);
  const known = BY_SYSTEM[code ?? ''] ?? (isBusy ? 'all connections are in use: raise poolSize' : plainReason(message));
  const written = sending === 'sent' ? 'unknown' : 'no';
  return new PostgresError(`PostgreSQL at ${subject}: ${known ?? message}`, {
    cause: error,
    written,
    isOutage: !isBusy,
    reason: known ?? 'the connection failed',
  });
}

/** True if the transaction was rolled back because of another one. */
export function isConflict(error: unknown): boolean {
  return error instanceof PostgresError && error.sqlState !== undefined && CONFLICTS.test(error.sqlState);
}

/** True if the server has ended a transaction, without any effect, because this process paused within it. */
export function isPause(error: unknown): boolean {
  return error instanceof PostgresError && error.sqlState === PAUSE && error.written === 'no';
}

/** Makes the error with which a server refuses a write. */
export function readOnlyError(): Error {
  return Object.assign(new Error('it takes no writes'), { code: READ_ONLY });
}

/** True if the server accepts no writes, such as an old primary after a failover. */
export function isReadOnly(error: PostgresError): boolean {
  return error.sqlState === READ_ONLY;
}

function detailsOf(error: unknown): { code?: string; severity?: string; message: string } {
  // The error of several addresses of a host that failed together.
  const cause = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  if (!(cause instanceof Error)) return { message: String(cause) };
  const { code, severity } = cause as { readonly code?: unknown; readonly severity?: unknown };
  return {
    message: cause.message,
    ...(typeof code === 'string' && { code }),
    ...(typeof severity === 'string' && { severity }),
  };
}

/** Returns the reason for messages of the library without a code; `undefined` for any other message. */
function plainReason(message: string): string | undefined {
  if (/connection timeout/.test(message)) return 'it does not answer';
  if (/terminated unexpectedly|Connection ended|not queryable|Connection terminated/.test(message)) {
    return 'it closed the connection';
  }
  if (/does not support SSL/.test(message)) return 'it offers no TLS: remove sslmode, or set ssl=on there';
  return undefined;
}
