import { LinkedList, type Place } from '../../runtime/linked-list.js';

/** A call to the storage whose answer may bring this process a turn. */
export class Arrival {
  /** The task whose turn may come; absent where it can be any task's. */
  readonly taskId: string | undefined;
  readonly #ended: (arrival: Arrival) => void;
  #end: PromiseWithResolvers<void> | undefined;
  /** Its place in the list of arrivals. */
  place: Place<Arrival> | undefined;

  constructor(taskId: string | undefined, ended: (arrival: Arrival) => void) {
    this.taskId = taskId;
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

  /** Registers a call before it is made; the caller ends it. */
  begin(taskId?: string): Arrival {
    const arrival = new Arrival(taskId, ({ place }) => place && this.#underWay.remove(place));
    arrival.place = this.#underWay.add(arrival);
    return arrival;
  }

  /**
   * Resolves when every call has ended that may bring a turn of this task, of any task without one; undefined if there
   * is none.
   */
  over(taskId?: string): Promise<unknown> | undefined {
    const concerned = this.#underWay
      .values()
      .filter((arrival) => taskId === undefined || (arrival.taskId ?? taskId) === taskId);
    return concerned.length === 0 ? undefined : Promise.all(concerned.map(({ over }) => over));
  }
}
