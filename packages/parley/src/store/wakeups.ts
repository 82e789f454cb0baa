import type { TaskKey } from './task-key.js';

/**
 * Receives wake-ups. A wake-up has keys only, and asks the receiver to read again. It may be lost, late, repeated, or
 * arrive before its change is visible: receivers also poll. Receivers do not throw.
 */
export interface WakeupListener {
  /** A task was written from outside of its turn, or by any process of a shared storage; or it was deleted. */
  taskChanged(key: TaskKey): void;
  /** A turn of this agent can be claimed. */
  workReady(agent: string): void;
  /** The cancellation of this task was requested. */
  cancelAsked(key: TaskKey): void;
  /** A delivery of this agent can be claimed. Retries become due without a wake-up. */
  deliveryReady(agent: string): void;
}

/**
 * Wake-ups between the processes on one storage. The storage calls the methods of this listener after its commits; each
 * process subscribes.
 */
export interface Wakeups extends WakeupListener {
  /** Adds a listener with the methods for the wake-ups that it needs. Returns the function that removes it. */
  subscribe(listener: Partial<WakeupListener>): () => void;
}

/** Wake-ups within one process, delivered synchronously. */
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
