import { StorageError } from 'parley-a2a/storage-engine';

/** A value of a column. */
export type SqlValue = string | number | null;

/** The part of the `ctx` of a Durable Object that the storage uses. Its class needs the storage backend SQLite. */
export interface ObjectContext {
  readonly storage: {
    readonly sql: { exec(query: string, ...bindings: SqlValue[]): { toArray(): unknown[] } };
    transactionSync<R>(work: () => R): R;
    setAlarm(time: number): Promise<void>;
  };
}

/**
 * Maximum characters of a text per row. A row has at most 2 MB, and a character up to three bytes. A longer text is
 * split over several rows.
 */
const PART_LENGTH = 500_000;
/** A prefix that no JSON begins with. */
const REFERENCE = '~';

/** Statements on the database of one object. */
export class ObjectSql {
  readonly #storage: ObjectContext['storage'];

  constructor({ storage }: ObjectContext) {
    this.#storage = storage;
  }

  /**
   * Runs a statement.
   * @throws StorageError if the database fails.
   */
  all<Row>(query: string, ...values: readonly SqlValue[]): Row[] {
    try {
      return this.#storage.sql.exec(query, ...values).toArray() as Row[];
    } catch (error) {
      throw new StorageError('The database of the Durable Object failed', { cause: error });
    }
  }

  get<Row>(query: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.all<Row>(query, ...values)[0];
  }

  run(query: string, ...values: readonly SqlValue[]): void {
    this.all(query, ...values);
  }

  transaction<R>(work: () => R): R {
    return this.#storage.transactionSync(work);
  }

  /**
   * Returns the value for a column with JSON: its text, or a reference to the rows that have a long one. Triggers
   * delete these rows with the reference.
   */
  textValue(value: unknown): string | null {
    if (value === undefined) return null;
    const text = JSON.stringify(value);
    if (text.length <= PART_LENGTH) return text;
    const { id = 1 } = this.get<{ id: number }>('SELECT coalesce(max(id), 0) + 1 AS id FROM long_text') ?? {};
    let part = 0;
    for (let start = 0; start < text.length; part += 1) {
      const end = endOfPart(text, start);
      this.run('INSERT INTO long_text VALUES (?, ?, ?)', id, part, text.slice(start, end));
      start = end;
    }
    return `${REFERENCE}${id}`;
  }

  /** Returns the JSON of a column. */
  textOf(value: string): string {
    if (!value.startsWith(REFERENCE)) return value;
    const parts = 'SELECT text FROM long_text WHERE id = ? ORDER BY part';
    const id = Number(value.slice(REFERENCE.length));
    return this.all<{ text: string }>(parts, id)
      .map(({ text }) => text)
      .join('');
  }

  /** Parses the JSON of a column. */
  parse<T>(value: string): T {
    return JSON.parse(this.textOf(value)) as T;
  }
}

/** Keeps a surrogate pair together, because half of it cannot be encoded in UTF-8. */
function endOfPart(text: string, start: number): number {
  const end = start + PART_LENGTH;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
