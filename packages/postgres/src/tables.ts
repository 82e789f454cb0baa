import type { PostgresConnections, Session } from './connections.js';

/** A statement with a fixed text, in which the schema is named `parley`. */
export interface Sql {
  /**
   * Unique, and shorter than 64 bytes: the name of the prepared statement. A statement without a name is planned at
   * each call, for the current size of the tables.
   */
  readonly name?: string;
  readonly text: string;
  /** True if the statement only reads. */
  readonly repeatable?: true;
}

/** A value of a parameter. */
export type SqlValue = string | number | boolean | null | readonly string[];

/** Runs statements on the tables. 64-bit integers are converted to numbers. */
export interface Tables {
  /** @throws PostgresError */
  query<Row>(sql: Sql, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
}

/** The tables of a storage, in the configured schema. */
export class PostgresTables implements Tables {
  /** For calls about leases, which do not wait for other calls. */
  readonly urgent: Tables;
  readonly #connections: PostgresConnections;
  readonly #texts = new Map<Sql, string>();

  constructor(connections: PostgresConnections) {
    this.#connections = connections;
    this.urgent = this.#tablesOf(connections.urgent);
  }

  async query<Row>(sql: Sql, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#query(this.#connections, sql, values);
  }

  /**
   * Runs statements in one transaction. `work` is repeated after a conflict with another transaction.
   * `statementTimeoutMs`: default that of the options.
   */
  transaction<R>(work: (tables: Tables) => Promise<R>, statementTimeoutMs?: number): Promise<R> {
    const limits = statementTimeoutMs === undefined ? {} : { statementTimeoutMs };
    return this.#connections.transaction((session) => work(this.#tablesOf(session)), limits);
  }

  #tablesOf(session: Session): Tables {
    return { query: async (sql, ...values) => this.#query(session, sql, values) };
  }

  #query<Row>(session: Session, sql: Sql, values: readonly SqlValue[]): Promise<readonly Row[]> {
    let text = this.#texts.get(sql);
    if (text === undefined) {
      text = sql.text.replaceAll('parley.', `${this.#connections.schema}.`);
      this.#texts.set(sql, text);
    }
    return session.query<Row>({
      text,
      values,
      ...(sql.name !== undefined && { name: sql.name }),
      ...(sql.repeatable && { repeatable: true }),
    });
  }
}
