import type { Clock } from '../runtime/clock.js';

/** What ends a call early. */
export interface CallDeadline {
  readonly signal: AbortSignal | undefined;
  /** To be called when the call is over. */
  release(): void;
}

const nothing = (): void => {};

/** One signal for the caller's own and a time limit. */
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

/** A signal that is aborted when one of two is. */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return one === undefined ? other : AbortSignal.any([one, other]);
}
