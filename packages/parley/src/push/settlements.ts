import type { Clock } from '../runtime/clock.js';

/** Maximum number of unsettled records of a queue, which a crash would repeat, beside the one that is being sent. */
const MOST_UNSETTLED = 16;
/** The number of unsettled records at which a queue settles. The rest of the maximum is sent during the settlement. */
const TOGETHER = MOST_UNSETTLED / 2;
/** The longest time in ms before a settlement of fewer records. */
const WAIT_MS = 100;
/** A settlement that takes longer delays the next record, because it also extends the lease. */
const SLOW_MS = 1_000;

/**
 * The queues of a sender that wait for a settlement. If one of them begins, all begin. A storage on a disk writes them
 * in one commit, which costs about as much as a commit of one.
 */
export class SettlementGroup {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #stopTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `begin` soon, unless it is removed before. */
  add(begin: () => void): void {
    this.#waiting.add(begin);
    this.#stopTimer ??= this.#clock.after(WAIT_MS, () => this.flush());
  }

  remove(begin: () => void): void {
    this.#waiting.delete(begin);
  }

  /** Begins all settlements that wait. */
  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const begin of waiting) begin();
  }
}

/**
 * Settles the acknowledged records of a queue, one settlement at a time. Each one includes all records that were
 * acknowledged before it begins.
 */
export class Settlements {
  readonly #clock: Clock;
  readonly #group: SettlementGroup;
  readonly #settle: () => Promise<boolean>;
  #unsettled = 0;
  #isHeld = true;
  #begunAt = 0;
  #running: Promise<void> | undefined;

  constructor(
    { clock, group }: { readonly clock: Clock; readonly group: SettlementGroup },
    settle: () => Promise<boolean>,
  ) {
    this.#clock = clock;
    this.#group = group;
    this.#settle = settle;
  }

  /** One more record is acknowledged. */
  add(): void {
    this.#unsettled += 1;
    if (this.#running === undefined) this.#join();
  }

  /** Resolves when another record may be acknowledged. False if the queue is no longer held. */
  async keepUp(): Promise<boolean> {
    while (this.#running !== undefined && this.#isBehind()) await this.#running;
    return this.#isHeld;
  }

  /** Leaves the rest to the caller. Resolves when no settlement is running. False if the queue is no longer held. */
  stop(): Promise<boolean> {
    this.abandon();
    this.#group.flush();
    return this.finish();
  }

  /** Resolves when all is settled. False if the queue is no longer held. */
  async finish(): Promise<boolean> {
    while (this.#isHeld && (this.#running !== undefined || this.#unsettled > 0)) {
      if (this.#running === undefined) this.#group.flush();
      await this.#running;
    }
    return this.#isHeld;
  }

  /** Begins no further settlement. */
  abandon(): void {
    this.#unsettled = 0;
    this.#group.remove(this.#begin);
  }

  #isBehind(): boolean {
    return this.#unsettled >= MOST_UNSETTLED || this.#clock.monotonic() - this.#begunAt > SLOW_MS;
  }

  #join(): void {
    this.#group.add(this.#begin);
    if (this.#unsettled >= TOGETHER) this.#group.flush();
  }

  readonly #begin = (): void => {
    const taken = this.#unsettled;
    this.#begunAt = this.#clock.monotonic();
    this.#running = this.#settle().then((isHeld) => {
      this.#running = undefined;
      this.#isHeld = isHeld;
      this.#unsettled = Math.max(0, this.#unsettled - taken);
      if (isHeld && this.#unsettled > 0) this.#join();
    });
    // The error goes to the next caller that waits.
    this.#running.catch(() => undefined);
  };
}
