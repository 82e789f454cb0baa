import type { Clock } from 'parley-a2a/storage-engine';
import type { PostgresConnections } from './connections.js';
import type { SchemaChange } from './schema.js';

/** The table of wake-ups. Unlogged, because it may be lost. */
export const WAKEUP_SCHEMA: SchemaChange = {
  name: '0002',
  statements: ({ schema }) => [
    `CREATE UNLOGGED TABLE ${schema}.wakeup (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, payload text NOT NULL
    )`,
  ],
};

/** Options of the table. */
interface WakeupTableOptions {
  readonly connections: PostgresConnections;
  readonly clock: Clock;
  readonly receive: (payload: string) => void;
}

const LOOK_MS = 250;
/** Maximum delay in ms with which a row can become visible after rows with higher numbers. */
const LATE_MS = 2_000;
/** Time in ms after which rows are deleted. */
const KEEP_MS = 10_000;
/** Number of polls between two deletions. */
const LOOKS_PER_DELETION = 20;
const ROWS = 1_000;

/** Wake-ups in a table, for processes that cannot listen. A process polls every 250 ms. */
export class WakeupTable {
  readonly #options: WakeupTableOptions;
  /** The numbers of received rows, because a later poll finds them again. */
  #seen = new Set<number>();
  #looks = 0;
  #cancelLook: () => void = () => {};
  #isClosed = false;

  constructor(options: WakeupTableOptions) {
    this.#options = options;
  }

  /** Starts to poll. */
  start(): void {
    this.#lookLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook();
  }

  /** Writes payloads for other processes. */
  async put(payloads: readonly string[]): Promise<void> {
    const { connections } = this.#options;
    const { schema } = connections;
    await connections.urgent.query({
      text: `INSERT INTO ${schema}.wakeup (at, payload) SELECT ${schema}.now_ms(), unnest($1::text[])`,
      values: [payloads],
    });
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#cancelLook = this.#options.clock.after(LOOK_MS, () => {
      this.#look().then(
        () => this.#lookLater(),
        // The connections report the outage.
        () => this.#lookLater(),
      );
    });
  }

  async #look(): Promise<void> {
    const { connections, receive } = this.#options;
    const { schema } = connections;
    const rows = await connections.urgent.query<{ readonly number: number; readonly payload: string }>({
      text: `SELECT number, payload FROM ${schema}.wakeup WHERE at > ${schema}.now_ms() - $1 ORDER BY number DESC LIMIT $2`,
      values: [LATE_MS, ROWS],
      repeatable: true,
    });
    const seen = this.#seen;
    this.#seen = new Set(rows.map(({ number }) => number));
    for (const { number, payload } of rows.toReversed()) if (!seen.has(number)) receive(payload);
    this.#looks += 1;
    if (this.#looks % LOOKS_PER_DELETION !== 0) return;
    await connections.urgent.query({
      text: `DELETE FROM ${schema}.wakeup WHERE at < ${schema}.now_ms() - $1`,
      values: [KEEP_MS],
    });
  }
}
