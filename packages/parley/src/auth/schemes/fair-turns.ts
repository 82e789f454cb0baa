/** Limits of turns. */
export interface TurnLimits {
  /** Turns at once. */
  readonly running: number;
  /** Callers that wait for a turn. */
  readonly waiting: number;
}

/** A caller that waits. `begin`: its turn has come. `refuse`: another caller has taken its place. */
interface Waiter {
  begin(): void;
  refuse(): void;
}

/**
 * Turns for slow work, fair between groups of callers: each group in turn gets one. If too many callers wait, the
 * newest one of the largest group has to go. A group with many callers therefore holds up another group for one turn.
 */
export class FairTurns {
  readonly #limits: TurnLimits;
  /** Groups with waiting callers, in the order of their next turns. */
  readonly #groups = new Map<string, Waiter[]>();
  #running = 0;
  #waiting = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Resolves with true at the caller's turn, which `end` ends. Resolves with false if too many callers wait. */
  begin(group: string): Promise<boolean> {
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

  /** Ends a turn, and begins the next one. */
  end(): void {
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
