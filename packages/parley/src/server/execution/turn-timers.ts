import type { EqualTimers, RunningTimer } from '../../runtime/equal-timers.js';
import type { Surroundings } from './turn-host.js';

type Timers = Pick<Surroundings, 'deadlines' | 'expiries' | 'graces'>;

/** Timers of a turn: its deadline, its wait for the caller, and the grace in which its agent has to return. */
export class TurnTimers {
  readonly #around: Timers;
  /** Of the two, one runs at a time. */
  #limit: { readonly of: EqualTimers; readonly timer: RunningTimer } | undefined;
  #grace: RunningTimer | undefined;

  constructor(around: Timers) {
    this.#around = around;
  }

  /** Takes the place of the expiry that runs. */
  startDeadline(then: () => void): void {
    this.#startLimit(this.#around.deadlines, then);
  }

  /** Takes the place of the deadline, or of the expiry that runs. */
  startExpiry(then: () => void): void {
    this.#startLimit(this.#around.expiries, then);
  }

  /** A new grace takes the place of the one that runs. */
  startGrace(then: () => void): void {
    const { graces } = this.#around;
    if (this.#grace !== undefined) graces.stop(this.#grace);
    this.#grace = graces.start(then);
  }

  stop(): void {
    if (this.#limit !== undefined) this.#limit.of.stop(this.#limit.timer);
    if (this.#grace !== undefined) this.#around.graces.stop(this.#grace);
    this.#limit = undefined;
    this.#grace = undefined;
  }

  #startLimit(of: EqualTimers, then: () => void): void {
    if (this.#limit !== undefined) this.#limit.of.stop(this.#limit.timer);
    this.#limit = { of, timer: of.start(then) };
  }
}
