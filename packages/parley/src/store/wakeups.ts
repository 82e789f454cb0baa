import type { TaskKey } from './task-key.js';

/**
 * Receives wake-ups. A wake-up carries keys only and means "look". It may be lost, late, repeated, or come before its
 * reason can be seen: a receiver also looks by itself from time to time. Receivers do not throw.
 */
export interface WakeupListener {
  /** A task was written to from outside of its turn, or by any process of a shared storage; or it was deleted. */
  taskChanged(key: TaskKey): void;
  /** A turn of this agent can be claimed. */
  workReady(agent: string): void;
  /** A cancel of this task was requested. */
  cancelAsked(key: TaskKey): void;
  /** A delivery of push for this agent can be claimed. Retries become due without a wake-up. */
  deliveryReady(agent: string): void;
}

/**
 * Wake-ups between the processes on one storage. The storage publishes after its commits, by calling the methods of a
 * listener; each process subscribes.
 */
export interface Wakeups extends WakeupListener {
  /** Returns the function that ends the subscription. A listener has the methods for the wake-ups that it needs. */
  subscribe(listener: Partial<WakeupListener>): () => void;
}

/** Wake-ups within one process. They arrive at once. */
export class LocalWakeups implements Wakeups {
  readonly #listeners = new Set<Partial<WakeupListener>>();

  subscribe(listener: Partial<WakeupListener>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  taskChanged(key: TaskKey): void {
    for (const listener of this.#listeners) listener.taskChanged?.(key);
  }

  workReady(agent: string): void {
    for (const listener of this.#listeners) listener.workReady?.(agent);
  }

  cancelAsked(key: TaskKey): void {
    for (const listener of this.#listeners) listener.cancelAsked?.(key);
  }

  deliveryReady(agent: string): void {
    for (const listener of this.#listeners) listener.deliveryReady?.(agent);
  }
}
