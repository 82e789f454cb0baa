import type { EqualTimers, RunningTimer } from '../../runtime/equal-timers.js';
import type { EngineContext } from './turn-host.js';

type Timers = Pick<EngineContext, 'deadlines' | 'expiries' | 'graces'>;

/** Timers of a turn: its deadline, its wait for the caller, and the grace in which its agent has to return. */
export class TurnTimers {
  readonly #context: Timers;
  /** Of the two, one runs at a time. */
  #limit: { readonly of: EqualTimers; readonly timer: RunningTimer } | undefined;
  #grace: RunningTimer | undefined;

  constructor(context: Timers) {
    this.#context = context;
  }

  /** Takes the place of the expiry that runs. */
  startDeadline(then: () => void): void {
    this.#startLimit(this.#context.deadlines, then);
  }

  /** Takes the place of the deadline, or of the expiry that runs. */
  startExpiry(then: () => void): void {
    this.#startLimit(this.#context.expiries, then);
  }

  /** A new grace takes the place of the one that runs. */
  startGrace(then: () => void): void {
    const { graces } = this.#context;
    if (this.#grace !== undefined) graces.stop(this.#grace);
    this.#grace = graces.start(then);
  }

  stop(): void {
    if (this.#limit !== undefined) this.#limit.of.stop(this.#limit.timer);
    if (this.#grace !== undefined) this.#context.graces.stop(this.#grace);
    this.#limit = undefined;
    this.#grace = undefined;
  }

  #startLimit(of: EqualTimers, then: () => void): void {
    if (this.#limit !== undefined) this.#limit.of.stop(this.#limit.timer);
    this.#limit = { of, timer: of.start(then) };
  }
}
