import type { Clock } from '../../runtime/clock.js';
import { LinkedList } from '../../runtime/linked-list.js';

/** The ends that a credential can have. */
interface CredentialEnd {
  /** ms since the epoch. */
  readonly expiresAt?: number | undefined;
  readonly revoked?: AbortSignal | undefined;
}

type Listener = () => void;
/** Calls its argument once when a credential ends. Returns the function that stops that. */
type Watcher = (ended: Listener) => () => void;

/** The longest time between two looks at the clock, because an operator may set it. */
const LOOK_MS = 60_000;
const SECOND_MS = 1000;
/** The fewest signals after which those without a call are looked for. */
const LEAST_SIGNALS = 1_024;

/** The calls of the credentials that end with a signal. */
interface Revocable {
  readonly calls: LinkedList<Listener>;
  /** The listener of the signal. */
  readonly revoked: () => void;
  readonly watcher: Watcher;
}

/**
 * The ends of the credentials of running calls. One timer serves all of them, and each signal has one listener. A
 * credential ends at most a second after its expiry. A signal keeps its listener after its last call: the next call of
 * the same credential mostly follows soon. Once there are twice as many signals as had calls before, those without one
 * go.
 */
export class CredentialEnds {
  readonly #clock: Clock;
  /** By the second in which they end. */
  readonly #expiring = new Map<number, LinkedList<Listener>>();
  readonly #revocable = new Map<AbortSignal, Revocable>();
  #mostSignals = LEAST_SIGNALS;
  /** The second of the next look. */
  #next = Number.POSITIVE_INFINITY;
  #stopTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Watches the ends for calls. Credentials without a time have one function for each signal. */
  watcherOf({ expiresAt, revoked }: CredentialEnd): Watcher {
    const known = expiresAt === undefined && revoked !== undefined ? this.#revocable.get(revoked) : undefined;
    return known?.watcher ?? ((ended) => this.watch({ expiresAt, revoked }, ended));
  }

  /** Calls `ended` once at the first end. The returned function stops that. */
  watch({ expiresAt, revoked }: CredentialEnd, ended: Listener): () => void {
    if (revoked?.aborted) {
      ended();
      return () => {};
    }
    // With one end alone, only that end can come.
    if (expiresAt === undefined) return revoked === undefined ? () => {} : this.#addSignal(revoked, ended);
    if (revoked === undefined) return this.#addExpiry(secondOf(expiresAt), ended);
    const first = () => {
      stop();
      ended();
    };
    const forgetSignal = this.#addSignal(revoked, first);
    const forgetExpiry = this.#addExpiry(secondOf(expiresAt), first);
    const stop = () => {
      forgetSignal();
      forgetExpiry();
    };
    return stop;
  }

  #addExpiry(second: number, listener: Listener): () => void {
    let listeners = this.#expiring.get(second);
    if (listeners === undefined) {
      listeners = new LinkedList();
      this.#expiring.set(second, listeners);
      if (second < this.#next) this.#arm(second);
    }
    const all = listeners;
    const place = all.add(listener);
    return () => {
      all.remove(place);
      if (all.size === 0 && this.#expiring.get(second) === all) this.#expiring.delete(second);
    };
  }

  #addSignal(signal: AbortSignal, listener: Listener): () => void {
    const { calls } = this.#revocable.get(signal) ?? this.#listenTo(signal);
    const place = calls.add(listener);
    return () => calls.remove(place);
  }

  #listenTo(signal: AbortSignal): Revocable {
    if (this.#revocable.size >= this.#mostSignals) this.#forgetIdleSignals();
    const calls = new LinkedList<Listener>();
    const revoked = () => {
      this.#revocable.delete(signal);
      runAll(calls);
    };
    const revocable = { calls, revoked, watcher: (ended: Listener) => this.watch({ revoked: signal }, ended) };
    signal.addEventListener('abort', revoked, { once: true });
    this.#revocable.set(signal, revocable);
    return revocable;
  }

  /** Node.js keeps a signal of `AbortSignal.any` as long as it has a listener. */
  #forgetIdleSignals(): void {
    for (const [signal, { calls, revoked }] of this.#revocable) {
      if (calls.size > 0) continue;
      signal.removeEventListener('abort', revoked);
      this.#revocable.delete(signal);
    }
    this.#mostSignals = Math.max(LEAST_SIGNALS, 2 * this.#revocable.size);
  }

  #arm(second: number): void {
    this.#stopTimer?.();
    this.#next = second;
    const ms = Math.min(Math.max(1, second * SECOND_MS - this.#clock.now()), LOOK_MS);
    this.#stopTimer = this.#clock.after(ms, () => this.#look());
  }

  #look(): void {
    this.#stopTimer = undefined;
    this.#next = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [second, listeners] of this.#expiring) {
      if (second * SECOND_MS > now) {
        next = Math.min(next, second);
        continue;
      }
      this.#expiring.delete(second);
      runAll(listeners);
    }
    if (next < this.#next) this.#arm(next);
  }
}

function secondOf(ms: number): number {
  return Math.ceil(ms / SECOND_MS);
}

/** Calls each listener once. A listener may stop others that have not been called. */
function runAll(listeners: LinkedList<Listener>): void {
  for (let { first } = listeners; first !== undefined; first = listeners.first) {
    const { value } = first;
    listeners.remove(first);
    value?.();
  }
}
