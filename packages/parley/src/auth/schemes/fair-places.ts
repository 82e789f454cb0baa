/** Limits of `FairPlaces`. */
interface FairPlacesOptions {
  /** Callers with a place. */
  readonly running: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

/** A caller that waits. `begin` gives it a place, `refuse` rejects it. */
interface Waiter {
  begin(): void;
  refuse(): void;
}

/**
 * Limits concurrent slow work, fairly between groups of callers: the groups get free places in turn. If too many
 * callers wait, the newest one of the largest group is refused. So a group with many callers delays another group by
 * one place.
 */
export class FairPlaces {
  readonly #limits: FairPlacesOptions;
  /** Groups with waiting callers, in the order of their turns. */
  readonly #groups = new Map<string, Waiter[]>();
  #running = 0;
  #waiting = 0;

  constructor(limits: FairPlacesOptions) {
    this.#limits = limits;
  }

  /**
   * Resolves with true when the caller has a place, which it must give back. Resolves with false if too many callers
   * wait.
   */
  take(group: string): Promise<boolean> {
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return Promise.resolve(true);
    }
    const waiters = this.#groups.get(group) ?? [];
    if (this.#waiting >= this.#limits.waiting && !this.#makeRoom(waiters.length)) return Promise.resolve(false);
    this.#groups.set(group, waiters);
    this.#waiting += 1;
    return new Promise((resolve) => waiters.push({ begin: () => resolve(true), refuse: () => resolve(false) }));
  }

  /** Gives a place back, for the next caller. */
  give(): void {
    const [next] = this.#groups;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [group, waiters] = next;
    this.#groups.delete(group);
    const waiter = waiters.shift();
    if (waiters.length > 0) this.#groups.set(group, waiters);
    this.#waiting -= 1;
    waiter?.begin();
  }

  /** Refuses a caller of the largest group, if that group is larger than the one of a new caller with it. */
  #makeRoom(own: number): boolean {
    let largest: Waiter[] = [];
    for (const waiters of this.#groups.values()) if (waiters.length > largest.length) largest = waiters;
    if (largest.length <= own + 1) return false;
    this.#waiting -= 1;
    largest.pop()?.refuse();
    return true;
  }
}
