import { RpcTarget } from 'capnweb';
import { UnsupportedOperationError } from 'parley-a2a/binding-kit';
import { BY_VERB } from 'parley-a2a/kit';
import { PLAIN_CODEC } from './plain-codec.js';
import { keptCallback } from './task-callback.js';
import type { TaskCallbacks } from './task-callbacks.js';

/** Time without use after which a task of a stream ends, in ms. */
const UNUSED_MS = 60 * 60_000;

/** The task of a stream, for clients that use plain arguments. */
export class StreamingTask extends RpcTarget {
  readonly #callbacks: TaskCallbacks;
  #isOver = false;
  #stopTimer: (() => void) | undefined;

  static {
    const value = function (this: StreamingTask, historyLength: unknown) {
      return this.#read(historyLength);
    };
    Object.defineProperty(StreamingTask.prototype, BY_VERB.get, { value, configurable: true, writable: true });
  }

  constructor(callbacks: TaskCallbacks) {
    super();
    this.#callbacks = callbacks;
    callbacks.session.hold(callbacks.grant);
    this.#use();
  }

  /** Calls a callback with the current state, and then with every event until the task ends. */
  async subscribe(callback: unknown): Promise<CallbackSubscription> {
    const { session } = this.#callbacks;
    const kept = await session.run(() => {
      this.#use();
      return keptCallback(callback, session.options.clock);
    });
    try {
      return new CallbackSubscription(this.#callbacks, await this.#callbacks.subscribe(kept));
    } catch (error) {
      kept[Symbol.dispose]();
      throw error;
    }
  }

  /** Removes a callback: by its subscription, by its id, or as the only one. */
  unsubscribeCallback(callback: unknown): Promise<void> {
    return this.#callbacks.session.run(() => {
      this.#use();
      return this.#callbacks.remove(callback);
    });
  }

  /** True if the task has ended. */
  async isFinalState(): Promise<boolean> {
    await this.#callbacks.session.run(() => this.#use());
    return this.#callbacks.isOver();
  }

  /** Ends all callbacks. The task continues. */
  dispose(): void {
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTimer?.();
    const { session, grant } = this.#callbacks;
    this.#callbacks.closeAll();
    session.release(grant);
  }

  async #read(historyLength: unknown): Promise<unknown> {
    const { session, grant, taskId } = this.#callbacks;
    await session.run(() => this.#use());
    const value = { id: taskId, ...(typeof historyLength === 'number' && { historyLength }) };
    return session.call({ grant, operation: BY_VERB.get, value, codec: PLAIN_CODEC });
  }

  #use(): void {
    if (this.#isOver) throw new UnsupportedOperationError('the StreamingTask has ended: follow the task by its id');
    this.#stopTimer?.();
    this.#stopTimer = this.#callbacks.session.options.clock.after(UNUSED_MS, () => this.#expire());
  }

  /** A callback that waits for events keeps the object in use. */
  #expire(): void {
    if (this.#callbacks.isUsed) this.#use();
    else this[Symbol.dispose]();
  }
}

/** A handle of a callback in a task. Disposing closes it. */
export class CallbackSubscription extends RpcTarget {
  readonly #callbacks: TaskCallbacks;
  readonly #id: number;

  constructor(callbacks: TaskCallbacks, id: number) {
    super();
    this.#callbacks = callbacks;
    this.#id = id;
  }

  /** Identifies the subscription for `unsubscribeCallback`. */
  get subscriptionId(): number {
    return this.#id;
  }

  close(): void {
    this.#callbacks.close(this.#id);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
