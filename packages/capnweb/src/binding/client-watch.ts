import type { StreamResponse } from 'parley-a2a';
import { clientV1_0, isTransient } from 'parley-a2a/binding-kit';
import { ConnectionError, ignoreRejection, isObject, isTerminal } from 'parley-a2a/kit';
import type { CapabilityPorts, CapnwebEvent } from './capability-client.js';
import { invalidAnswer } from './capnweb-client-transport.js';
import { disposeOf } from './client-feed.js';
import { fromWire } from './wire-values.js';

/** A function that is called with the events of a task. Its return acknowledges them. */
export type WatchCallback = (events: readonly CapnwebEvent[]) => void | Promise<void>;

/** A handle to end a watch. */
export interface WatchSubscription extends Disposable {
  /** Ends the watch. The task continues. */
  close(): void;
  /**
   * Resolves when the task has ended, or the watch or its client was closed. Rejects with the error of the function, of
   * the agent, or of the last connection.
   */
  readonly ended: Promise<void>;
}

/** A watch in a session. */
interface StartedWatch {
  readonly subscription: unknown;
  readonly release: () => void;
}

/** The options of `ClientWatch`. */
interface ClientWatchOptions {
  readonly callback: WatchCallback;
  /** The number of the event after which the watch begins. */
  readonly after: number | undefined;
  readonly ports: CapabilityPorts;
  /** True once the client is closed. */
  readonly isClosed: () => boolean;
  /** Aborted when the agent object is closed. */
  readonly closing: AbortSignal;
  /** Begins the watch in a session. `ended` is called if the session ends. */
  readonly start: (
    sink: (items: readonly unknown[]) => Promise<void>,
    after: number | undefined,
    ended: () => void,
  ) => Promise<StartedWatch>;
}

/** Time limit of the agent for the function per batch, in ms. After it, the agent ends the watch. */
const PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Calls a function with the events of a task over as many sessions as necessary. Each event comes once and in order.
 */
export class ClientWatch implements WatchSubscription {
  readonly ended: Promise<void>;
  readonly #options: ClientWatchOptions;
  readonly #over = Promise.withResolvers<void>();
  #last: number | undefined;
  /** The running call of the function. The next batch waits for it, even in another session. */
  #taken: Promise<void> = Promise.resolve();
  /** The number of the current session. Batches of earlier ones are ignored. */
  #session = 0;
  #current: StartedWatch | undefined;
  #isOver = false;
  #failures = 0;
  /** Number of gaps after which the watch restarted, and the last event before the latest gap. */
  #gaps = 0;
  #gapAfter: number | undefined;

  constructor(options: ClientWatchOptions) {
    this.#options = options;
    this.#last = options.after;
    this.ended = this.#over.promise;
    this.ended.catch(() => {});
    options.closing.addEventListener('abort', this.#closed, { once: true });
    this.#start();
  }

  close(): void {
    this.#finish();
    this.#over.resolve();
  }

  readonly #closed = (): void => this.close();

  [Symbol.dispose](): void {
    this.close();
  }

  #start(): void {
    const session = this.#session;
    const watchAgain = (): void =>
      this.#again(session, new ConnectionError('The session of the watch has ended', { sent: true }));
    this.#options
      .start((items) => this.#take(items, session), this.#last, watchAgain)
      .then(
        (started) => {
          if (this.#isOver || session !== this.#session) release(started);
          else this.#current = started;
        },
        (error: unknown) => {
          if (session !== this.#session) return;
          if (isTransient(error)) this.#again(session, error);
          else this.#fail(error);
        },
      );
  }

  /** Restarts in another session, after the last event. `error` ended this one. */
  #again(session: number, error: unknown): void {
    if (this.#isOver || session !== this.#session) return;
    const { ports, isClosed } = this.#options;
    const { clock, random, attempts } = ports;
    if (isClosed()) return this.close();
    if (this.#failures >= attempts) return this.#fail(error);
    this.#session += 1;
    this.#leave();
    const whole = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    clock.after(whole / 2 + (whole / 2) * random(), () => {
      if (!this.#isOver) this.#start();
    });
  }

  async #take(items: readonly unknown[], session: number): Promise<void> {
    const { clock } = this.#options.ports;
    const began = clock.monotonic();
    const taken = this.#taken.then(() => this.#give(items, session));
    this.#taken = ignoreRejection(taken);
    await taken;
    if (clock.monotonic() - began >= PATIENCE_MS)
      this.#again(session, new ConnectionError('The function took too long for the agent', { sent: true }));
  }

  /** Calls the function with a batch. A batch that a later session repeats is left to that session. */
  async #give(items: readonly unknown[], session: number): Promise<void> {
    if (this.#isOver || session !== this.#session) return;
    try {
      const events: CapnwebEvent[] = [];
      let hasGap = false;
      for (const item of items) {
        hasGap = this.#isAfterGap(item);
        if (hasGap) break;
        const event = await this.#event(item);
        if (event !== undefined) events.push(event);
      }
      if (events.length > 0) {
        await this.#options.callback(events);
        this.#failures = 0;
      }
      if (hasGap) this.#again(session, new ConnectionError('Events of the watch were lost', { sent: true }));
      else if (events.some(({ event }) => isLast(event))) {
        this.#finish();
        this.#over.resolve();
      }
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** True if events before the item were lost. A repeated gap is accepted, as in a `TaskStream`. */
  #isAfterGap(item: unknown): boolean {
    const { seq, reset } = isObject(item) ? item : {};
    if (reset === true || this.#last === undefined || !Number.isSafeInteger(seq)) return false;
    if ((seq as number) <= this.#last + 1) return false;
    if (this.#last === this.#gapAfter || this.#gaps >= this.#options.ports.attempts) return false;
    this.#gaps += 1;
    this.#gapAfter = this.#last;
    return true;
  }

  async #event(item: unknown): Promise<CapnwebEvent | undefined> {
    if (!isObject(item) || !isObject(item.event)) throw invalidAnswer('An item of a watch has no event');
    const { seq, reset } = item;
    const number = Number.isSafeInteger(seq) ? (seq as number) : undefined;
    if (number !== undefined && this.#last !== undefined && number <= this.#last && reset !== true) return undefined;
    const { answerBytes } = this.#options.ports;
    const value = await fromWire(item.event, { streamBytes: answerBytes, fault: invalidAnswer });
    const event = clientV1_0.decodeEvent(value);
    if (number !== undefined) this.#last = number;
    return event && { seq: number, event };
  }

  #fail(error: unknown): void {
    this.#finish();
    this.#over.reject(error);
  }

  #finish(): void {
    this.#isOver = true;
    this.#options.closing.removeEventListener('abort', this.#closed);
    this.#leave();
  }

  #leave(): void {
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) release(current);
  }
}

function release({ subscription, release }: StartedWatch): void {
  disposeOf(subscription);
  release();
}

function isLast(event: StreamResponse): boolean {
  if (event.statusUpdate !== undefined) return isTerminal(event.statusUpdate.status.state);
  return event.message !== undefined || (event.task !== undefined && isTerminal(event.task.status.state));
}
