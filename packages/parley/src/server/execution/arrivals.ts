import { LinkedList, type Place } from '../../runtime/linked-list.js';

import { isSameTask, type TaskKey } from '../../store/task-key.js';

/** A call to the storage whose answer may bring this process a turn. */
export class TurnArrival {
  /** The task of the turn. Absent if the call can bring any turn. */
  readonly key: TaskKey | undefined;
  /** Time of the call by the monotonic clock; 0 if no other process shares the storage. */
  readonly sentAt: number;
  readonly #ended: (arrival: TurnArrival) => void;
  #end: PromiseWithResolvers<void> | undefined;
  /** Its place in the list of arrivals. */
  place: Place<TurnArrival> | undefined;

  constructor(
    call: { readonly key: TaskKey | undefined; readonly sentAt: number },
    ended: (arrival: TurnArrival) => void,
  ) {
    this.key = call.key;
    this.sentAt = call.sentAt;
    this.#ended = ended;
  }

  /** Resolves when the answer has come and its turns are registered. */
  get over(): Promise<void> {
    this.#end ??= Promise.withResolvers<void>();
    return this.#end.promise;
  }

  /** Ends the arrival. Its turns are registered now, or none came. */
  end(): void {
    this.#ended(this);
    this.#end?.resolve();
  }
}

/**
 * The running calls that may bring a turn. A cancel or a shutdown that finds no turn waits for them. Between the commit
 * of a claim and its answer, the storage already names this process as the holder.
 */
export class TurnArrivals {
  readonly #underWay = new LinkedList<TurnArrival>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Registers a call before it is made. The caller ends it. */
  begin(key?: TaskKey): TurnArrival {
    const arrival = new TurnArrival({ key, sentAt: this.#now() }, ({ place }) => place && this.#underWay.remove(place));
    arrival.place = this.#underWay.add(arrival);
    return arrival;
  }

  /**
   * Resolves when all calls have ended that may bring a turn of this task, or of any task without a key. Undefined if
   * there is none.
   */
  over(key?: TaskKey): Promise<unknown> | undefined {
    const concerned = this.#underWay
      .values()
      .filter((arrival) => key === undefined || isSameTask(arrival.key ?? key, key));
    return concerned.length === 0 ? undefined : Promise.all(concerned.map(({ over }) => over));
  }
}
