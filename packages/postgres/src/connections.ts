import { type Clock, type Logger, OutageLog, pauseCall, StorageError } from 'parley-a2a/storage-engine';
import pg, { type Pool, type PoolClient, type PoolConfig, type QueryResult } from 'pg';
import { Outage } from './outage.js';
import { isConflict, isReadOnly, PostgresError, postgresError, type SendingState } from './postgres-error.js';
import { type PostgresPlan, transactionPauseMs } from './postgres-options.js';

/** One statement with its values. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Prepares the statement once per connection under this name. A name always has the same text. */
  readonly name?: string;
  /** True if the statement only reads, so that it can be repeated once on another connection. */
  readonly repeatable?: boolean;
}

/** The rows of an answer. Columns are named. 64-bit integers are converted to numbers. */
export type Rows<R> = readonly R[];

/** Runs statements, each on its own or all within one transaction. */
export interface Session {
  /** @throws PostgresError */
  query<R = Readonly<Record<string, unknown>>>(statement: Statement): Promise<Rows<R>>;
}

/** Limits for one use of a connection. */
interface UseLimits {
  /** Time limit of each statement, in ms. Default: that of the options. */
  readonly statementTimeoutMs?: number;
}

/** Additional time in ms for the server to cancel a statement, before the connection is closed. */
const MARGIN_MS = 500;
/** Maximum attempts of a transaction after conflicts. */
const CONFLICT_TRIES = 5;
/** Separate connections for calls about leases, so that other calls cannot delay them. */
const URGENT_CONNECTIONS = 2;
/** Idle time in ms after which a connection is closed. */
const IDLE_MS = 60_000;
/** Minimum interval in ms between replacements of all connections while the only server refuses writes. */
const REPLACE_MS = 1_000;
const INT8 = 20;
const INT8_ARRAY = 1016;

/** Options of the connections. */
interface ConnectionsOptions {
  readonly plan: PostgresPlan;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The connections to one PostgreSQL database. Each wait has a time limit: for a connection, for a statement, for the
 * end of a transaction. A failed or hanging connection is replaced. During an outage, calls fail at once.
 * After a failover the old primary may continue to accept connections, but no writes. Then all connections are
 * replaced, and the address leads to the new primary.
 */
export class PostgresConnections implements Session {
  readonly plan: PostgresPlan;
  /** A session on separate connections for calls about leases. */
  readonly urgent: Session = {
    query: (statement) => this.#repeatOnce(this.#urgent, statement),
  };
  readonly #clock: Clock;
  readonly #calls: Pool;
  readonly #urgent: Pool;
  readonly #outage: Outage;
  /** The connections that were opened since the last refused write. */
  #current = new WeakSet<PoolClient>();
  #replacedAt = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | undefined;

  /** Connects with the first call. */
  constructor({ plan, clock, logger }: ConnectionsOptions) {
    this.plan = plan;
    this.#clock = clock;
    this.#calls = poolOf(plan.connection, plan.poolSize);
    this.#urgent = poolOf(plan.connection, URGENT_CONNECTIONS);
    for (const pool of [this.#calls, this.#urgent]) pool.on('connect', (client) => void this.#current.add(client));
    this.#outage = new Outage({
      clock,
      log: new OutageLog({ subject: plan.subject, logger, clock }),
      probe: () => this.#query(this.#urgent, { text: 'SELECT 1' }),
    });
  }

  /** The quoted name of the schema. */
  get schema(): string {
    return `"${this.plan.schema}"`;
  }

  async query<R = Readonly<Record<string, unknown>>>(statement: Statement): Promise<Rows<R>> {
    return this.#repeatOnce(this.#calls, statement);
  }

  /**
   * Runs statements in one transaction. `work` is repeated after a conflict with another transaction. If `work` throws,
   * the transaction is rolled back.
   * @throws PostgresError
   */
  async transaction<R>(work: (session: Session) => Promise<R>, limits: UseLimits = {}): Promise<R> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transaction(work, limits);
      } catch (error) {
        if (!isConflict(error) || attempt === CONFLICT_TRIES) throw error;
        // Lets the other transaction finish with the same rows.
        await pauseCall(this.#clock, attempt);
      }
    }
  }

  /** Closes the connections. Running calls may continue for the time limit of a statement. */
  close(): Promise<void> {
    this.#closing ??= this.#clock.hold(this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#outage.close();
    const ended = Promise.all([this.#calls.end(), this.#urgent.end()]);
    ended.catch(() => {});
    let stop = () => {};
    const late = new Promise<void>((resolve) => {
      stop = this.#clock.after(this.plan.statementTimeoutMs + MARGIN_MS, resolve);
    });
    await Promise.race([ended, late]);
    stop();
  }

  async #repeatOnce<R>(pool: Pool, statement: Statement): Promise<Rows<R>> {
    this.#outage.check();
    try {
      return await this.#reportOutcome(() => this.#query<R>(pool, statement));
    } catch (error) {
      const isLost = error instanceof PostgresError && error.written === 'unknown';
      if (!isLost || statement.repeatable !== true || this.#outage.isAway) throw error;
      return await this.#reportOutcome(() => this.#query<R>(pool, statement));
    }
  }

  /** Reports the success or failure of a call to the outage. */
  async #reportOutcome<R>(work: () => Promise<R>): Promise<R> {
    try {
      const result = await work();
      this.#outage.recordAnswer();
      return result;
    } catch (error) {
      if (!(error instanceof PostgresError)) throw error;
      if (isReadOnly(error)) this.#replaceAll();
      throw this.#outage.recordFailure(error);
    }
  }

  /** Replaces all open connections after the server has refused a write. */
  #replaceAll(): void {
    const now = this.#clock.monotonic();
    if (now - this.#replacedAt < REPLACE_MS) return;
    this.#replacedAt = now;
    this.#current = new WeakSet();
  }

  async #connect(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (this.#current.has(client)) return client;
      client.release(true);
    }
  }

  #query<R>(pool: Pool, statement: Statement): Promise<Rows<R>> {
    return this.#useConnection(pool, async (connection) => (await connection.send(statement)).rows as R[]);
  }

  async #transaction<R>(work: (session: Session) => Promise<R>, limits: UseLimits): Promise<R> {
    this.#outage.check();
    return this.#reportOutcome(() =>
      this.#useConnection(
        this.#calls,
        async (connection) => {
          await connection.send({ text: this.#begin(limits) }, 'not-sent');
          let result: R;
          try {
            result = await work({
              // Nothing is written before the commit of the transaction.
              query: async (statement) => (await connection.send(statement, 'not-sent')).rows as never[],
            });
          } catch (error) {
            if (!connection.isBroken) await connection.send({ text: 'ROLLBACK' }).catch(() => {});
            throw error;
          }
          const { command } = await connection.send({ text: 'COMMIT' });
          if (command !== 'COMMIT')
            throw new StorageError(`PostgreSQL at ${this.plan.subject} rolled a transaction back`);
          return result;
        },
        limits,
      ),
    );
  }

  #begin({ statementTimeoutMs }: UseLimits): string {
    const { isPooled, statementTimeoutMs: usual } = this.plan;
    if (!isPooled && statementTimeoutMs === undefined) return 'BEGIN';
    const ms = statementTimeoutMs ?? usual;
    const pauseMs = transactionPauseMs(ms);
    return `BEGIN; SET LOCAL statement_timeout = ${ms}; SET LOCAL idle_in_transaction_session_timeout = ${pauseMs}`;
  }

  /** Uses a connection once. It is replaced if it has ended or did not answer. */
  async #useConnection<R>(pool: Pool, use: (connection: Connection) => Promise<R>, limits: UseLimits = {}): Promise<R> {
    if (this.#closing !== undefined) throw new StorageError('The storage is closed');
    const { subject, statementTimeoutMs, isPooled } = this.plan;
    let client: PoolClient;
    try {
      client = await this.#connect(pool);
    } catch (error) {
      throw postgresError(error, subject, 'not-sent');
    }
    const deadlineMs = (limits.statementTimeoutMs ?? statementTimeoutMs) + MARGIN_MS;
    const connection = new Connection(client, { clock: this.#clock, deadlineMs, isNamed: !isPooled, subject });
    try {
      return await use(connection);
    } finally {
      connection.end();
    }
  }
}

/** Options of a connection in use. */
interface ConnectionOptions {
  readonly clock: Clock;
  readonly subject: string;
  readonly deadlineMs: number;
  /** False behind a transaction pooler, where the next statement may use another connection to the server. */
  readonly isNamed: boolean;
}

/** A connection during one use. */
class Connection {
  readonly #client: PoolClient;
  readonly #options: ConnectionOptions;
  readonly #lost = () => {
    this.#isBroken = true;
  };
  #isBroken = false;

  constructor(client: PoolClient, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
    client.on('error', this.#lost);
  }

  /** True if it cannot be used again. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /**
   * Sends a statement.
   * @param sending `not-sent` for a statement that writes nothing without a later commit.
   * @throws PostgresError
   */
  async send({ text, values, name }: Statement, sending: SendingState = 'sent'): Promise<QueryResult> {
    const { clock, deadlineMs, isNamed, subject } = this.#options;
    let isLate = false;
    const stop = clock.after(deadlineMs, () => {
      isLate = true;
      this.#cut();
    });
    try {
      return await this.#client.query({
        text,
        ...(values !== undefined && { values: values as unknown[] }),
        ...(isNamed && name !== undefined && { name }),
      });
    } catch (error) {
      if (!isRefusal(error)) this.#isBroken = true;
      const late = { code: 'ETIMEDOUT', cause: error };
      throw postgresError(isLate ? Object.assign(new Error('no answer in time'), late) : error, subject, sending);
    } finally {
      stop();
    }
  }

  /** Returns the connection to the pool, or closes it. */
  end(): void {
    if (this.#isBroken) this.#cut();
    this.#client.off('error', this.#lost);
    this.#client.release(this.#isBroken);
  }

  /** A regular end would wait for the server. */
  #cut(): void {
    this.#isBroken = true;
    const { connection } = this.#client as unknown as { readonly connection?: { stream?: { destroy(): void } } };
    connection?.stream?.destroy();
  }
}

/** True for an error after which the connection can be used. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && (error as { readonly severity?: unknown }).severity === 'ERROR';
}

function poolOf(connection: PoolConfig, max: number): Pool {
  const pool = new pg.Pool({
    ...connection,
    max,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    types: { getTypeParser: typeParser() },
  });
  // The pool replaces an idle connection that ends. The next call detects an outage.
  pool.on('error', () => {});
  // The end of a connection may arrive with its start, before its user has added a listener.
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

/** Sequence numbers and times have less than 53 bits. */
function typeParser(): typeof pg.types.getTypeParser {
  const usual = pg.types.getTypeParser as (oid: number, format?: string) => (text: string) => unknown;
  const parserOf = (oid: number, format?: string) => {
    if (oid === INT8) return Number;
    if (oid === INT8_ARRAY) return (text: string) => (usual(oid, format)(text) as readonly string[]).map(Number);
    return usual(oid, format);
  };
  return parserOf as typeof pg.types.getTypeParser;
}
