import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';

/** Maximum number of attempts of one call while other processes change its rows. */
const ATTEMPTS = 16;
/** Attempts without a pause between them. Most rows change once or twice. */
const AT_ONCE = 3;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 32;

/**
 * Repeats a call until it has an outcome. Later attempts wait with 50 % jitter, so that processes which change the same
 * rows do not collide again. All pauses together take less than half a second.
 * `attempt`: resolves to undefined if its rows have changed and nothing was written. `subject`: names the rows in the
 * error.
 * @throws StorageError after the last attempt.
 */
export async function repeatCall<R extends NonNullable<unknown>>(
  clock: Pick<Clock, 'after' | 'monotonic'>,
  subject: string,
  attempt: () => Promise<R | undefined>,
): Promise<R> {
  for (let number = 1; number <= ATTEMPTS; number += 1) {
    if (number > AT_ONCE) await pauseCall(clock, number - AT_ONCE);
    const outcome = await attempt();
    if (outcome !== undefined) return outcome;
  }
  throw new StorageError(`${subject} changed ${ATTEMPTS} times during a call: repeat the call`);
}

/** Waits before a repeated call, with jitter: 1 ms before the first repetition, doubled each time, at most 32 ms. */
export function pauseCall(clock: Pick<Clock, 'after' | 'monotonic'>, number: number): Promise<void> {
  const whole = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (number - 1));
  // The fractions of a microsecond are random enough, and differ from process to process.
  const random = (clock.monotonic() * 1_000) % 1;
  return new Promise((resolve) => {
    clock.after(whole / 2 + (whole / 2) * random, resolve);
  });
}
