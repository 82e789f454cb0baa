import type { Clock } from '../runtime/clock.js';

/** The signal that ends a call early. */
export interface CallDeadline {
  readonly signal: AbortSignal | undefined;
  /** Stops the timer. Call it once the call is over. */
  release(): void;
}

const nothing = (): void => {};

/** Joins the caller's signal and a time limit in one signal. */
export function callDeadline(
  clock: Clock,
  { signal, timeoutMs }: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined },
): CallDeadline {
  if (timeoutMs === undefined) return { signal, release: nothing };
  const controller = new AbortController();
  const release = clock.after(timeoutMs, () => {
    controller.abort(new DOMException(`The call took longer than ${timeoutMs} ms`, 'TimeoutError'));
  });
  return { signal: eitherSignal(signal, controller.signal), release };
}

/** Returns a signal that aborts as soon as one of two does. */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return one === undefined ? other : AbortSignal.any([one, other]);
}
