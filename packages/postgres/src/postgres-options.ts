import { type Clock, closestName, type Logger, OptionsError } from 'parley-a2a/storage-engine';
import type { PoolConfig } from 'pg';

/** TLS to a PostgreSQL server. The certificates and the key are texts in PEM. */
export interface PostgresTls {
  /** Authorities that may sign the certificate of the server. Default: those of Node.js. */
  readonly ca?: string;
  /** The certificate of this client, and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** The name in the certificate of the server. Default: the host of the url. */
  readonly servername?: string;
  /** `false` encrypts without a check of the server. Default `true`. */
  readonly rejectUnauthorized?: boolean;
}

/** Options of a storage in PostgreSQL. The url can carry those that are texts or numbers, as query parameters. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with `sslmode` and the like as usual. */
  readonly url: string;
  /** The schema of the tables. Made if it is missing. Default `parley`. */
  readonly schema?: string;
  /** Connections at most for the calls of this process. Three more serve leases and wake-ups. Default 10. */
  readonly poolSize?: number;
  /** Takes the place of `sslmode` and the files in the url. Default: none. */
  readonly tls?: PostgresTls;
  /** Longest wait for a connection. Default 3,000. */
  readonly connectTimeoutMs?: number;
  /** Longest time of a statement. Default 5,000. */
  readonly statementTimeoutMs?: number;
  /** Partitions of each large table, from 1 to 256. Counts only when the tables are made. Default 1. */
  readonly partitions?: number;
  /**
   * The loss that an acknowledged write survives. `process` does not wait for the disk of the server. Default:
   * `power-loss`.
   */
  readonly durability?: 'power-loss' | 'process';
  /** `transaction` behind a pooler that gives a connection for a transaction only, such as pgbouncer. Default: none. */
  readonly pooled?: 'transaction';
  /**
   * A url without a transaction pooler for the connection that waits for wake-ups. Default: `url`, or none behind a
   * transaction pooler. Without it, the process looks for changes every 250 ms.
   */
  readonly listenUrl?: string;
  /** Bytes of the event logs of finished tasks. A sweep deletes the oldest beyond that. Default: no bound. */
  readonly eventLogBytes?: number;
}

/** The options, and the ports that the library sets. */
export interface PostgresStorageOptions extends PostgresOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Options with every default filled in. */
export interface PostgresPlan {
  readonly schema: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly partitions: number;
  readonly durability: 'power-loss' | 'process';
  readonly isPooled: boolean;
  readonly eventLogBytes: number | undefined;
  /** The server and the database for the log, without user and password. */
  readonly subject: string;
  /** Options for the library `pg`. */
  readonly connection: PoolConfig;
  /** Options for the listening connection; absent if there is none. */
  readonly listenConnection?: PoolConfig;
}

/** Query parameters of the url for options. */
const NUMBERS = ['poolSize', 'connectTimeoutMs', 'statementTimeoutMs', 'partitions', 'eventLogBytes'] as const;
const TEXTS = ['schema', 'durability', 'pooled', 'listenUrl'] as const;
/** Query parameters that the library `pg` reads. */
const OF_DRIVER = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'application_name', 'options'];
const OF_TLS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

type Settings = { [Name in (typeof NUMBERS)[number]]?: number } & { [Name in (typeof TEXTS)[number]]?: string };

/**
 * Parses the options and the query parameters of the url. An option overrides a parameter.
 * @throws OptionsError naming every invalid option. It never contains a url.
 */
export function postgresPlan(options: PostgresOptions): PostgresPlan {
  const problems: string[] = [];
  const url = databaseUrlOf(options.url, 'url', problems);
  const settings = { ...settingsOf(url, problems), ...givenSettings(options) };
  const {
    schema = 'parley',
    poolSize = 10,
    connectTimeoutMs = 3_000,
    statementTimeoutMs = 5_000,
    partitions = 1,
    durability = 'power-loss',
    pooled,
    listenUrl,
    eventLogBytes,
  } = settings;
  if (!/^[A-Za-z_][\w$]{0,49}$/.test(schema) || /^pg_/i.test(schema)) {
    problems.push('schema: must be a name of at most 50 letters, digits and _, such as parley');
  }
  const whole = (name: string, value: number, [least, most]: readonly [number, number]) => {
    if (!Number.isInteger(value) || value < least || value > most) {
      problems.push(`${name}: must be a whole number from ${least} to ${most}`);
    }
  };
  whole('poolSize', poolSize, [1, 1_000]);
  whole('connectTimeoutMs', connectTimeoutMs, [100, 600_000]);
  whole('statementTimeoutMs', statementTimeoutMs, [100, 600_000]);
  whole('partitions', partitions, [1, 256]);
  if (eventLogBytes !== undefined) whole('eventLogBytes', eventLogBytes, [0, Number.MAX_SAFE_INTEGER]);
  if (durability !== 'power-loss' && durability !== 'process') {
    problems.push('durability: must be power-loss or process');
  }
  if (pooled !== undefined && pooled !== 'transaction') problems.push('pooled: must be transaction');
  const listen = listenUrl === undefined ? undefined : databaseUrlOf(listenUrl, 'listenUrl', problems);
  if (listen !== undefined) settingsOf(listen, problems);
  if (problems.length > 0) throw new OptionsError('The storage in PostgreSQL', problems);

  const isPooled = pooled === 'transaction';
  const timeouts = { connectTimeoutMs, statementTimeoutMs };
  const connection = connectionOf(url, {
    ...timeouts,
    isPooled,
    tls: options.tls,
    durability: durability as 'process',
  });
  const direct = listen ?? (isPooled ? undefined : url);
  return {
    schema,
    poolSize,
    ...timeouts,
    partitions,
    durability: durability as PostgresPlan['durability'],
    isPooled,
    eventLogBytes,
    subject: `${url.hostname}:${url.port || '5432'}${url.pathname}`,
    connection,
    ...(direct !== undefined && {
      listenConnection: connectionOf(direct, { ...timeouts, isPooled: false, tls: options.tls }),
    }),
  };
}

function databaseUrlOf(text: string, name: string, problems: string[]): URL {
  const url = URL.parse(text);
  const isPostgres = url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && url.hostname !== '';
  // An unescaped / ? or # in a password ends the authority of the url early, and the rest becomes a path.
  if ((isPostgres && /@/.test(url.pathname)) || url?.hash)
    problems.push(`${name}: has a / ? or # in its password. Write them as %2F %3F %23`);
  if (!isPostgres) problems.push(`${name}: must be like postgres://user:password@localhost:5432/database`);
  return url ?? new URL('postgres://localhost');
}

/** Returns the options in the query of a url, and removes them. Parameters of the driver stay. */
function settingsOf(url: URL, problems: string[]): Settings {
  const settings: Settings = {};
  for (const [name, value] of [...url.searchParams]) {
    const number = NUMBERS.find((known) => known === name);
    const text = TEXTS.find((known) => known === name);
    if (number !== undefined) settings[number] = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    else if (text !== undefined) settings[text] = value;
    else if (OF_DRIVER.includes(name)) continue;
    else problems.push(unknownParameter(name));
    url.searchParams.delete(name);
  }
  const mode = url.searchParams.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) problems.push(`sslmode: must be one of ${SSL_MODES.join(', ')}`);
  // The driver verifies the server in each of these modes, and warns about all but this name.
  if (mode === 'prefer' || mode === 'require' || mode === 'verify-ca') url.searchParams.set('sslmode', 'verify-full');
  return settings;
}

/** Hides the name, because it may be a part of a password with a `?`. */
function unknownParameter(name: string): string {
  const known = [...TEXTS, ...NUMBERS, ...OF_DRIVER];
  const meant = closestName(name, known);
  const question = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `url: has a parameter that is not known${question}. Known: ${known.join(', ')}`;
}

function givenSettings(options: PostgresOptions): Settings {
  const entries = [...NUMBERS, ...TEXTS].map((name) => [name, options[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * Time in ms that a process may pause within a transaction. After it, other processes can take over the turns whose
 * rows it has locked.
 */
const TRANSACTION_PAUSE_MS = 1_000;

/** Returns the maximum pause within a transaction, in ms. */
export function transactionPauseMs(statementTimeoutMs: number): number {
  return Math.min(statementTimeoutMs, TRANSACTION_PAUSE_MS);
}

interface ConnectionSettings extends Pick<PostgresPlan, 'connectTimeoutMs' | 'statementTimeoutMs' | 'isPooled'> {
  readonly tls: PostgresTls | undefined;
  /** Absent: the connection writes nothing. */
  readonly durability?: 'power-loss' | 'process';
}

/**
 * Every statement finds its rows by an index. Without these settings, a plan that was prepared while a table was small
 * would still scan the whole table when it is large. JIT compilation takes longer than any of these statements.
 */
const PLANNING = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
  .map((way) => `-c ${way}=off`)
  .join(' ');

function connectionOf(given: URL, settings: ConnectionSettings): PoolConfig {
  const { connectTimeoutMs, statementTimeoutMs, isPooled, tls, durability } = settings;
  const url = new URL(given);
  if (tls !== undefined) for (const name of OF_TLS) url.searchParams.delete(name);
  const commit = durability && `-c synchronous_commit=${durability === 'process' ? 'off' : 'on'}`;
  const options = [url.searchParams.get('options'), commit && PLANNING, commit].filter((option) => option).join(' ');
  const name = url.searchParams.get('application_name') ?? 'parley';
  url.searchParams.delete('options');
  url.searchParams.delete('application_name');
  return {
    connectionString: url.href,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: name,
    ...(tls !== undefined && { ssl: tls }),
    // A transaction pooler refuses settings at the start of a connection. Behind one, each transaction sets them.
    ...(!isPooled && {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: transactionPauseMs(statementTimeoutMs),
      ...(options !== '' && { options }),
    }),
  };
}
