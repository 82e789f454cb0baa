import type { Clock } from './clock.js';

/** The time that work of one kind may take in a turn of the event loop, before all other work has its turn. */
export class TurnBudget {
  readonly #clock: Clock;
  readonly #ms: number;
  #began: number | undefined;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** True if the time of this turn is used up. The first call begins it. */
  isOver(): boolean {
    const now = this.#clock.monotonic();
    if (this.#began === undefined) {
      this.#began = now;
      this.#clock.soon(() => {
        this.#began = undefined;
      });
    }
    return now - this.#began >= this.#ms;
  }
}
