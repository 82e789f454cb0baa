import { OptionsError } from '../errors/options-error.js';
import type { Clock } from '../runtime/clock.js';

/** The time limit of a call, for bindings that tell it to the agent. */
export interface TimeLimit {
  /** The time left, in ms; negative once it has passed. */
  remainingMs(): number;
  /** The error of a call that takes longer. */
  error(): DOMException;
}

/** Cancellation and time limit of one call. */
export interface CallDeadline {
  readonly signal: AbortSignal | undefined;
  /** Absent: the call has no time limit. */
  readonly timeLimit?: TimeLimit;
  /** Stops the timer. Call it once the call is over. */
  release(): void;
}

const nothing = (): void => {};

/**
 * Joins the caller's signal and a time limit in one signal.
 * @throws OptionsError for a time limit that is none.
 */
export function callDeadline(
  clock: Clock,
  { signal, timeoutMs }: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined },
): CallDeadline {
  if (timeoutMs === undefined) return { signal, release: nothing };
  if (!(typeof timeoutMs === 'number' && timeoutMs >= 0))
    throw new OptionsError('Nothing was sent', ['timeoutMs must be a number from 0']);
  const controller = new AbortController();
  const endsAt = clock.monotonic() + timeoutMs;
  const timeLimit: TimeLimit = {
    remainingMs: () => endsAt - clock.monotonic(),
    error: () => new DOMException(`The call took longer than ${timeoutMs} ms`, 'TimeoutError'),
  };
  const release = clock.after(timeoutMs, () => controller.abort(timeLimit.error()));
  return { signal: eitherSignal(signal, controller.signal), timeLimit, release };
}

/** Returns a signal that aborts as soon as one of two does. */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return one === undefined ? other : AbortSignal.any([one, other]);
}
