import type { RunningTimer } from '../../runtime/equal-timers.js';
import type { Surroundings } from './turn-host.js';

/** How long a turn may take, and how long its agent may take to return once it has to. */
export class TurnTimers {
  readonly #around: Pick<Surroundings, 'deadlines' | 'graces'>;
  #deadline: RunningTimer | undefined;
  #grace: RunningTimer | undefined;

  constructor(around: Pick<Surroundings, 'deadlines' | 'graces'>) {
    this.#around = around;
  }

  startDeadline(then: () => void): void {
    this.#deadline = this.#around.deadlines.start(then);
  }

  /** A new grace takes the place of the one that runs. */
  startGrace(then: () => void): void {
    const { graces } = this.#around;
    if (this.#grace !== undefined) graces.stop(this.#grace);
    this.#grace = graces.start(then);
  }

  stop(): void {
    const { deadlines, graces } = this.#around;
    if (this.#deadline !== undefined) deadlines.stop(this.#deadline);
    if (this.#grace !== undefined) graces.stop(this.#grace);
    this.#deadline = undefined;
    this.#grace = undefined;
  }
}
