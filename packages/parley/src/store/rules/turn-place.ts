import type { StorageLoad } from '../task-storage.js';

/** Maximum number of turns per ms. With more, places run ahead of the clock. */
export const PLACES_PER_MS = 1_024;
/** Places below this come from versions that stored no time. */
const FIRST_TIMED = 2 ** 40;

/**
 * Returns the place of a turn that arrives now. Places increase within a storage, or within a partition. They contain
 * the time of arrival, so the first place gives the age of the oldest message. Database scripts use the same formula.
 */
export function nextPlace(last: number, now: number): number {
  return Math.max(last + 1, now * PLACES_PER_MS);
}

/** Returns the time of arrival of the turn at a place. Undefined if there is no turn, or its place has no time. */
export function arrivalAt(place: number | null | undefined): number | undefined {
  return typeof place === 'number' && place >= FIRST_TIMED ? Math.floor(place / PLACES_PER_MS) : undefined;
}

/** Times of the oldest waiting work: the arrival of a message, and the next attempt of a delivery. */
interface OldestTimes {
  readonly arrived: number | null | undefined;
  readonly due: number | null | undefined;
}

/** Returns the ages for a `StorageLoad`. */
export function oldestWaits(
  { arrived, due }: OldestTimes,
  now: number,
): Pick<StorageLoad, 'oldestWaitMs' | 'oldestDueMs'> {
  return {
    ...(typeof arrived === 'number' && { oldestWaitMs: Math.max(0, now - arrived) }),
    ...(typeof due === 'number' && { oldestDueMs: Math.max(0, now - due) }),
  };
}
