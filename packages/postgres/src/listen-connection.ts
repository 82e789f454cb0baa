import type { Clock, Logger } from 'parley-a2a/storage-engine';
import pg, { type Client, type PoolConfig } from 'pg';
import { TIMEOUT_MS } from './check-server.js';
import { postgresError, readOnlyError } from './postgres-error.js';
import type { PostgresPlan } from './postgres-options.js';

/** Options of a listening connection. */
interface ListenConnectionOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly plan: PostgresPlan;
  readonly listenConnection: PoolConfig;
  readonly channel: string;
  readonly receive: (payload: string) => void;
}

/** Interval of heartbeats in ms. Without them, a dead connection looks like one without wake-ups. */
const HEARTBEAT_MS = 5_000;
const SETTINGS = `SELECT current_setting('transaction_read_only') AS read_only, ${TIMEOUT_MS} AS timeout_ms`;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

interface Settings {
  readonly read_only?: string;
  readonly timeout_ms?: number;
}

/** A connection that listens on one channel while the process lives. It is replaced when it ends or does not answer. */
export class ListenConnection {
  readonly #options: ListenConnectionOptions;
  #client: Client | undefined;
  #cancelTimer: () => void = () => {};
  #retryMs = FIRST_RETRY_MS;
  #isDeaf = false;
  #isClosed = false;

  constructor(options: ListenConnectionOptions) {
    this.#options = options;
  }

  /** Resolves after the first attempt to connect. A failed attempt is repeated in the background. */
  async start(): Promise<void> {
    const { listenConnection, channel, receive } = this.#options;
    const client = new pg.Client(listenConnection);
    this.#client = client;
    client.on('notification', ({ payload }) => receive(payload ?? ''));
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('Connection ended')));
    try {
      await client.connect();
      await this.#beat(client);
      await this.#ask(client, `LISTEN "${channel}"`);
    } catch (error) {
      this.#lost(client, error);
      return;
    }
    if (this.#client !== client) return;
    this.#retryMs = FIRST_RETRY_MS;
    if (this.#isDeaf) this.#options.logger.info('wake-ups of other processes arrive again', this.#subject);
    this.#isDeaf = false;
    this.#beatLater(client);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) cut(client);
  }

  get #subject() {
    return { subject: this.#options.plan.subject };
  }

  #beatLater(client: Client): void {
    this.#cancelTimer = this.#options.clock.after(HEARTBEAT_MS, () => {
      this.#beat(client).then(
        () => {
          if (this.#client === client) this.#beatLater(client);
        },
        (error: unknown) => this.#lost(client, error),
      );
    });
  }

  /**
   * Checks that the server accepts writes. After a failover an old primary does not, and gets no wake-ups. Behind a
   * pooler that resets connection settings, wake-ups may also be lost.
   */
  async #beat(client: Client): Promise<void> {
    const [row] = await this.#ask(client, SETTINGS);
    if (row?.read_only === 'on') throw readOnlyError();
    if (row?.timeout_ms !== undefined && row.timeout_ms !== this.#options.plan.statementTimeoutMs)
      throw new Error('a pooler drops the settings of its connections: listenUrl must name the server itself');
  }

  /** Runs a statement. Closes the connection if no answer comes in time. */
  async #ask(client: Client, text: string): Promise<readonly Settings[]> {
    const { clock, plan } = this.#options;
    const stop = clock.after(plan.connectTimeoutMs, () => cut(client));
    try {
      return (await client.query<Settings>(text)).rows;
    } finally {
      stop();
    }
  }

  #lost(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#cancelTimer();
    cut(client);
    if (this.#isClosed) return;
    const { logger, clock, plan } = this.#options;
    if (!this.#isDeaf) {
      const { message } = postgresError(error, plan.subject, 'not-sent');
      logger.warn(
        `wake-ups of other processes do not arrive: this process polls the tables instead; ${message}`,
        this.#subject,
      );
    }
    this.#isDeaf = true;
    this.#cancelTimer = clock.after(this.#retryMs, () => void this.start());
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
  }
}

/** A regular end would wait for the server. */
function cut(client: Client): void {
  const { connection } = client as unknown as { readonly connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}
