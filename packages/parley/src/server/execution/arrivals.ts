import { LinkedList, type Place } from '../../runtime/linked-list.js';

import { isSameTask, type TaskKey } from '../../store/task-storage.js';

/** A call to the storage whose answer may bring this process a turn. */
export class Arrival {
  /** The task whose turn may come; absent where it can be any task's. */
  readonly key: TaskKey | undefined;
  /** The time of the call, by the monotonic clock. */
  readonly sentAt: number;
  readonly #ended: (arrival: Arrival) => void;
  #end: PromiseWithResolvers<void> | undefined;
  /** Its place in the list of arrivals. */
  place: Place<Arrival> | undefined;

  constructor(call: { readonly key: TaskKey | undefined; readonly sentAt: number }, ended: (arrival: Arrival) => void) {
    this.key = call.key;
    this.sentAt = call.sentAt;
    this.#ended = ended;
  }

  /** Resolves when the answer is there and its turns are registered. */
  get over(): Promise<void> {
    this.#end ??= Promise.withResolvers<void>();
    return this.#end.promise;
  }

  /** The turns that came are registered, or none will come. */
  end(): void {
    this.#ended(this);
    this.#end?.resolve();
  }
}

/**
 * The calls under way that may bring a turn: a cancel or a shutdown that finds no turn yet waits for them. Between the
 * commit of an accept or a claim and its answer, the storage already says that this process runs the turn.
 */
export class Arrivals {
  readonly #underWay = new LinkedList<Arrival>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Registers a call before it is made; the caller ends it. */
  begin(key?: TaskKey): Arrival {
    const arrival = new Arrival({ key, sentAt: this.#now() }, ({ place }) => place && this.#underWay.remove(place));
    arrival.place = this.#underWay.add(arrival);
    return arrival;
  }

  /**
   * Resolves when every call has ended that may bring a turn of this task, of any task without one; undefined if there
   * is none.
   */
  over(key?: TaskKey): Promise<unknown> | undefined {
    const concerned = this.#underWay
      .values()
      .filter((arrival) => key === undefined || isSameTask(arrival.key ?? key, key));
    return concerned.length === 0 ? undefined : Promise.all(concerned.map(({ over }) => over));
  }
}
