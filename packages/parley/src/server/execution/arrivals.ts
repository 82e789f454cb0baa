import { LinkedList, type Place } from '../../runtime/linked-list.js';

import { isSameTask, type TaskKey } from '../../store/task-key.js';

/** A storage call whose answer may assign a turn to this process. */
export class TurnArrival {
  /** The task of the turn. Absent if the call can return any turn. */
  readonly key: TaskKey | undefined;
  /** Time of the call by the monotonic clock; 0 if no other process shares the storage. */
  readonly sentAt: number;
  readonly #ended: (arrival: TurnArrival) => void;
  #end: PromiseWithResolvers<void> | undefined;
  /** Its position in the list of arrivals. */
  place: Place<TurnArrival> | undefined;

  constructor(
    call: { readonly key: TaskKey | undefined; readonly sentAt: number },
    ended: (arrival: TurnArrival) => void,
  ) {
    this.key = call.key;
    this.sentAt = call.sentAt;
    this.#ended = ended;
  }

  /** Resolves when the answer has arrived and its turns are registered. */
  get over(): Promise<void> {
    this.#end ??= Promise.withResolvers<void>();
    return this.#end.promise;
  }

  /** Ends the arrival: its turns are registered, or there were none. */
  end(): void {
    this.#ended(this);
    this.#end?.resolve();
  }
}

/**
 * The calls in progress that may assign a turn. A cancel or a shutdown that finds no turn waits for them. Between the
 * commit of a claim and its answer, the storage already names this process as the holder.
 */
export class TurnArrivals {
  readonly #underWay = new LinkedList<TurnArrival>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Registers a call before it is made. The caller must call `end`. */
  begin(key?: TaskKey): TurnArrival {
    const arrival = new TurnArrival({ key, sentAt: this.#now() }, ({ place }) => place && this.#underWay.remove(place));
    arrival.place = this.#underWay.add(arrival);
    return arrival;
  }

  /**
   * Resolves when all calls have ended that may assign a turn of this task; without `key`, of any task. Undefined if
   * there is none.
   */
  over(key?: TaskKey): Promise<unknown> | undefined {
    const concerned = this.#underWay
      .values()
      .filter((arrival) => key === undefined || isSameTask(arrival.key ?? key, key));
    return concerned.length === 0 ? undefined : Promise.all(concerned.map(({ over }) => over));
  }
}
