import type { Clock } from 'parley-a2a/server';

/** The bounds of a wait. */
export interface WaitForOptions {
  /** Time limit in ms; default 5,000. */
  readonly timeoutMs?: number;
  /** The pause between two checks in ms; default 10. */
  readonly intervalMs?: number;
  /** A name for the condition, for the error. Default: the text of the predicate. */
  readonly what?: string;
}

/** A condition did not hold in time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  readonly what: string;
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number, options?: ErrorOptions) {
    super(`waited ${timeoutMs} ms in vain for: ${what}`, options);
    this.what = what;
    this.timeoutMs = timeoutMs;
  }
}

/** The default time limit of a wait in tests, in ms. */
export const DEFAULT_WAIT_MS = 5_000;
const DEFAULT_INTERVAL_MS = 10;
const MOST_TEXT = 200;

/** Waits for `ms` of a clock. */
export function waitOn(clock: Pick<Clock, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/**
 * Waits until a predicate returns a truthy value, and resolves to that. A predicate that throws counts as false.
 * @throws WaitTimeoutError naming the condition. Its `cause` is the last error of the predicate.
 */
export async function waitForOn<T>(
  clock: Pick<Clock, 'after' | 'monotonic'>,
  predicate: () => T | Promise<T>,
  options: WaitForOptions = {},
): Promise<T> {
  const { timeoutMs = DEFAULT_WAIT_MS, intervalMs = DEFAULT_INTERVAL_MS, what = textOf(predicate) } = options;
  const isOver = Promise.withResolvers<undefined>();
  const stopTimer = clock.after(timeoutMs, () => isOver.resolve(undefined));
  const end = clock.monotonic() + timeoutMs;
  let cause: unknown;
  try {
    do {
      try {
        const found = await Promise.race([predicate(), isOver.promise]);
        cause = undefined;
        if (found) return found;
      } catch (error) {
        cause = error;
      }
      await Promise.race([waitOn(clock, intervalMs), isOver.promise]);
    } while (clock.monotonic() < end);
  } finally {
    stopTimer();
  }
  throw new WaitTimeoutError(what, timeoutMs, cause === undefined ? undefined : { cause });
}

function textOf(predicate: () => unknown): string {
  const text = String(predicate).replace(/\s+/g, ' ');
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
