import {
  type Clock,
  LocalWakeups,
  type Logger,
  type TaskKey,
  type WakeupListener,
  type Wakeups,
} from 'parley-a2a/storage-engine';
import type { PostgresConnections } from './connections.js';
import { ListenConnection } from './listen-connection.js';
import { deliver, payloadsOf, readPayload, type Wakeup, wakeupText } from './wakeup-payloads.js';
import { WakeupTable } from './wakeup-table.js';

/** Options of the wake-ups. */
interface PostgresWakeupsOptions {
  readonly connections: PostgresConnections;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The first wake-up is sent at once. Those of the next 10 ms share a statement. */
const COLLECT_MS = 10;
/** Maximum number of waiting wake-ups. Further ones are dropped, because their receivers also poll. */
const MAX_WAITING = 20_000;
/** Maximum number of payloads in one statement. */
const MAX_PAYLOADS = 64;

/** Nothing of it must survive a crash, so its commit does not wait for a disk. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload)
  FROM unnest($2::text[]) AS payload`;

/**
 * Wake-ups by LISTEN and NOTIFY. Listeners of this process get them at once. Other processes get them after the commit
 * of the change, by a separate statement, because NOTIFY within transactions would serialize commits. Behind a
 * transaction pooler no connection can listen. There the processes write wake-ups to a table.
 */
export class PostgresWakeups implements Wakeups {
  readonly #options: PostgresWakeupsOptions;
  readonly #local = new LocalWakeups();
  readonly #channel: string;
  readonly #listening: ListenConnection | undefined;
  readonly #table: WakeupTable | undefined;
  #sender = '';
  #waiting = new Set<string>();
  #cancelFlush: (() => void) | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: PostgresWakeupsOptions) {
    this.#options = options;
    const { connections, clock, logger } = options;
    const { plan } = connections;
    this.#channel = `parley_${plan.schema}`;
    const receive = (payload: string) => this.#receive(payload);
    const { listenConnection } = plan;
    this.#listening = listenConnection
      ? new ListenConnection({ clock, logger, plan, listenConnection, channel: this.#channel, receive })
      : undefined;
    this.#table = listenConnection ? undefined : new WakeupTable({ connections, clock, receive });
  }

  /** Starts to listen. Failed attempts are repeated. */
  async start(): Promise<void> {
    const [row] = await this.#options.connections.query<{ readonly id: string }>({
      text: 'SELECT gen_random_uuid()::text AS id',
      repeatable: true,
    });
    this.#sender = row?.id ?? '';
    await this.#listening?.start();
    this.#table?.start();
  }

  subscribe(listener: Partial<WakeupListener>): () => void {
    return this.#local.subscribe(listener);
  }

  taskChanged(key: TaskKey): void {
    this.#publish({ kind: 'changed', key });
  }

  workReady(agent: string): void {
    this.#publish({ kind: 'work', agent });
  }

  cancelAsked(key: TaskKey): void {
    this.#publish({ kind: 'cancel', key });
  }

  deliveryReady(agent: string): void {
    this.#publish({ kind: 'delivery', agent });
  }

  /** Sends the waiting wake-ups: a closing process has just released its turns. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelFlush?.();
    await this.#sending;
    await this.#send();
    this.#table?.close();
    await this.#listening?.close();
  }

  #publish(wakeup: Wakeup): void {
    deliver(wakeup, this.#local);
    this.#queue(wakeup);
  }

  #queue(wakeup: Wakeup): void {
    if (this.#isClosed || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.add(wakeupText(wakeup));
    if (this.#cancelFlush === undefined && this.#sending === undefined) this.#flushLater();
  }

  #flushLater(): void {
    const { clock } = this.#options;
    const waitMs = this.#flushedAt + COLLECT_MS - clock.monotonic();
    const flush = () => {
      this.#cancelFlush = undefined;
      if (!this.#isClosed) this.#sending = this.#flush();
    };
    this.#cancelFlush = () => {};
    if (waitMs > 0) this.#cancelFlush = clock.after(waitMs, flush);
    else clock.soon(flush);
  }

  async #flush(): Promise<void> {
    this.#flushedAt = this.#options.clock.monotonic();
    await this.#send();
    this.#sending = undefined;
    if (this.#waiting.size > 0 && !this.#isClosed) this.#flushLater();
  }

  /** Sends the waiting wake-ups. */
  async #send(): Promise<void> {
    const payloads = payloadsOf(this.#sender, this.#waiting);
    this.#waiting = new Set();
    const { connections } = this.#options;
    try {
      for (let from = 0; from < payloads.length; from += MAX_PAYLOADS) {
        const some = payloads.slice(from, from + MAX_PAYLOADS);
        await this.#table?.put(some);
        await connections.urgent.query({ text: NOTIFY, values: [this.#channel, some], name: 'notify' });
      }
    } catch {
      // The connections report the outage. Receivers also poll.
    }
  }

  #receive(payload: string): void {
    const { sender, wakeups } = readPayload(payload);
    if (sender === this.#sender) return;
    for (const wakeup of wakeups) deliver(wakeup, this.#local);
  }
}
