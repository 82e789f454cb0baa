import type { Task } from 'parley-a2a';
import { BY_VERB, ignoreRejection, isTerminal } from 'parley-a2a/kit';
import type { FeedSource } from './feed-source.js';
import type { Grant } from './grant.js';
import { isFinalEvent, PLAIN_CODEC, PLAIN_EVENTS_CODEC } from './plain-codec.js';
import type { ServerSession } from './server-session.js';
import type { FeedItem } from './session-types.js';
import { invalid } from './session-values.js';
import { type CallbackEvent, isPeerStub, memberOf, type TaskCallback } from './task-callback.js';
import { type PeerFunction, type PulledItems, Watch } from './watch.js';

/** The first item of a stream, with a task. */
interface FirstItem {
  readonly seq: number;
  readonly events: readonly CallbackEvent[];
}

interface Subscribed {
  readonly callback: TaskCallback;
  readonly watch: Watch;
}

/** The callbacks of one task. Each has its own feed, so that none waits for another. */
export class TaskCallbacks {
  readonly session: ServerSession;
  readonly grant: Grant;
  readonly taskId: string;
  readonly #subscribed = new Map<number, Subscribed>();
  #lastId = 0;

  constructor(session: ServerSession, grant: Grant, taskId: string) {
    this.session = session;
    this.grant = grant;
    this.taskId = taskId;
  }

  /** True while a callback is subscribed. */
  get isUsed(): boolean {
    return this.#subscribed.size > 0;
  }

  /** Calls a callback with the current task and the events that follow. Returns the number of its subscription. */
  async subscribe(callback: TaskCallback): Promise<number> {
    const source = await this.#source();
    if (source !== undefined) return this.#add(callback, source);
    const value = { id: this.taskId };
    const call = { grant: this.grant, operation: BY_VERB.get, value, codec: PLAIN_EVENTS_CODEC };
    const events = (await this.session.call(call)) as CallbackEvent[];
    if (!events.some(isFinalEvent)) throw invalid('callback', 'needs an agent that streams');
    return this.#add(callback, new CallbackItems(events));
  }

  /** Calls a callback with the first item of a stream and the events that follow. */
  async follow(callback: TaskCallback, { seq, events }: FirstItem): Promise<void> {
    this.#add(callback, new CallbackItems(events, await this.#source(seq)));
  }

  /**
   * Removes a callback by its subscription, by its id, or as the only one. A session cannot compare two functions.
   * @throws InvalidParamsError if it could be one of several.
   */
  async remove(given: unknown): Promise<void> {
    const { clock } = this.session.options;
    const subscriptionId = isPeerStub(given) ? await memberOf(given.subscriptionId, clock) : undefined;
    if (typeof subscriptionId === 'number') return this.close(subscriptionId);
    const id = isPeerStub(given) ? await memberOf(given.id, clock) : (given as { readonly id?: unknown } | null)?.id;
    const all = [...this.#subscribed];
    const named = typeof id === 'string' ? all.filter(([, { callback }]) => callback.id === id) : all;
    if (typeof id !== 'string' && all.length > 1)
      throw invalid('callback', 'must have an id, or be the result of subscribe: several callbacks are subscribed');
    for (const [number] of named) this.close(number);
  }

  /** Ends a subscription. */
  close(subscriptionId: number): void {
    this.#subscribed.get(subscriptionId)?.watch.stop();
  }

  /** Ends all subscriptions. */
  closeAll(): void {
    for (const number of [...this.#subscribed.keys()]) this.close(number);
  }

  /** True if the task has ended. */
  async isOver(): Promise<boolean> {
    const value = { id: this.taskId, historyLength: 0 };
    const task = (await this.session.call({ grant: this.grant, operation: BY_VERB.get, value })) as Task;
    return isTerminal(task.status.state);
  }

  #add(callback: TaskCallback, source: PulledItems): number {
    this.#lastId += 1;
    const id = this.#lastId;
    const endSubscription = () => {
      this.#subscribed.delete(id);
      callback[Symbol.dispose]();
    };
    const watch = new Watch({ source, sink: sinkOf(callback, endSubscription), clock: this.session.options.clock });
    this.#subscribed.set(id, { callback, watch });
    return id;
  }

  /** The events of the task, as for a callback; `undefined` if the task has ended and there are no more. */
  async #source(after?: number): Promise<FeedSource | undefined> {
    const { session, grant, taskId } = this;
    try {
      const value = { id: taskId };
      return await session.stream({ grant, operation: BY_VERB.subscribe, value, after, codec: PLAIN_CODEC });
    } catch (error) {
      if ((error as { readonly reason?: unknown }).reason === 'UNSUPPORTED_OPERATION') return undefined;
      throw error;
    }
  }
}

/** Known events, followed by those of a feed. */
class CallbackItems implements PulledItems {
  readonly lastLength = 0;
  readonly #feed: FeedSource | undefined;
  #first: FeedItem | undefined;

  constructor(events: readonly CallbackEvent[], feed?: FeedSource) {
    this.#first = { seq: 0, event: events as unknown as FeedItem['event'] };
    this.#feed = feed;
  }

  async next(): Promise<FeedItem | undefined> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#feed?.next();
  }

  stop(): void {
    this.#first = undefined;
    this.#feed?.stop();
  }
}

/** Calls a callback with the events of each batch, one after the other. */
function sinkOf(callback: TaskCallback, ended: () => void): PeerFunction {
  const take = async (items: readonly FeedItem[]) => {
    for (const { event } of items) {
      for (const one of event as unknown as readonly CallbackEvent[]) await callback.take(one);
    }
  };
  const sink: PeerFunction = Object.assign(
    (items: readonly FeedItem[]) => Object.assign(ignoreRejection(take(items)), { [Symbol.dispose]: () => {} }),
    { dup: () => sink, [Symbol.dispose]: ended },
  );
  return sink;
}
