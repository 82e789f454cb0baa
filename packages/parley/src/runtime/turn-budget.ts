import type { Clock } from './clock.js';

/** The time that work of one kind may take per turn of the event loop, before other work runs. */
export class TurnBudget {
  readonly #clock: Pick<Clock, 'monotonic' | 'soon'>;
  readonly #ms: number;
  #began: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic' | 'soon'>, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Monotonic time in ms. */
  now(): number {
    return this.#clock.monotonic();
  }

  /** True if the time of this turn is used up. The first call in a turn starts it. */
  isOver(): boolean {
    const now = this.now();
    if (this.#began === undefined) {
      this.#began = now;
      this.#clock.soon(this.#end);
    }
    return now - this.#began >= this.#ms;
  }

  /** Resolves in a turn that has time left; undefined if this one has. */
  pause(): Promise<void> | undefined {
    return this.isOver() ? this.#turnWithTime() : undefined;
  }

  async #turnWithTime(): Promise<void> {
    do await new Promise<void>((resolve) => this.#clock.soon(resolve));
    while (this.isOver());
  }

  readonly #end = (): void => {
    this.#began = undefined;
  };
}
