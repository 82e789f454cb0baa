import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';

/** Attempts of one call at most, while other processes change its rows. */
const ATTEMPTS = 16;
/** Attempts that begin at once. Most rows move once or twice. */
const AT_ONCE = 3;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 32;

/**
 * Makes attempts until one has an outcome. Later ones begin after a short pause with 50 % jitter, so that processes
 * which move the same rows get out of step. All pauses together take less than half a second.
 *
 * `attempt`: resolves to undefined if its rows have moved, and nothing was written. `subject`: the rows for people.
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

/** The pause before a call is repeated: 1 ms before the first time, twice as long each time, at most 32 ms. */
export function pauseCall(clock: Pick<Clock, 'after' | 'monotonic'>, number: number): Promise<void> {
  const whole = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (number - 1));
  // The fractions of a microsecond are random enough, and differ from process to process.
  const random = (clock.monotonic() * 1_000) % 1;
  return new Promise((resolve) => {
    clock.after(whole / 2 + (whole / 2) * random, resolve);
  });
}
