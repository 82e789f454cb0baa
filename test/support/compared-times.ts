/** A call; resolves to its time in ms. `at` grows with each pair of calls. */
export type TimedCall = (at: number) => Promise<number>;

/** The bounds of a comparison. */
export interface ComparisonBounds {
  /** Calls of each kind in a round, before its interval is looked at. */
  readonly leastCalls: number;
  /** Calls of each kind in a round. */
  readonly mostCalls: number;
  /** Rounds until two kinds count as different. */
  readonly rounds: number;
}

/** Maximum ratio of two medians. */
export const MOST_RATIO = 1.2;
/** Pairs of calls between two looks at the interval. */
const BATCH = 20;
/** Standard errors on each side of the median: one interval of 100 misses it. */
const ERRORS = 2.6;

/**
 * The ratios of the medians of two kinds of calls, one for each round. The last one is within the bounds if any is.
 *
 * Both kinds are called in turn, so that a busy machine slows both. A round ends when its interval of ratios is inside
 * or outside of the bounds, and with the last call at the latest. Another round decides if a ratio is out of bounds.
 */
export async function ratiosOf(one: TimedCall, other: TimedCall, bounds: ComparisonBounds): Promise<readonly number[]> {
  const ratios: number[] = [];
  let pair = 0;
  while (ratios.length < bounds.rounds) {
    const times: { readonly one: number[]; readonly other: number[] } = { one: [], other: [] };
    for (let isOpen = true; isOpen; ) {
      for (let calls = 0; calls < BATCH; calls += 1, pair += 1) {
        // The second call of a pair finds warm caches, so each kind is the second one half of the time.
        if (pair % 2 === 0) times.one.push(await one(pair));
        times.other.push(await other(pair));
        if (pair % 2 === 1) times.one.push(await one(pair));
      }
      const calls = times.one.length;
      isOpen = calls < bounds.leastCalls || (calls < bounds.mostCalls && !isDecided(times.one, times.other));
    }
    const ratio = quantile(times.one, 0) / quantile(times.other, 0);
    ratios.push(ratio);
    if (isWithin(ratio)) break;
  }
  return ratios;
}

/** True if two medians are close to each other. */
export function isWithin(ratio: number): boolean {
  return ratio > 1 / MOST_RATIO && ratio < MOST_RATIO;
}

function isDecided(one: readonly number[], other: readonly number[]): boolean {
  const low = quantile(one, -ERRORS) / quantile(other, ERRORS);
  const high = quantile(one, ERRORS) / quantile(other, -ERRORS);
  return (isWithin(low) && isWithin(high)) || low > MOST_RATIO || high < 1 / MOST_RATIO;
}

/** The median, or the value that lies standard errors of the median away from it (order statistics). */
function quantile(values: readonly number[], errors: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const rank = Math.round((sorted.length + errors * Math.sqrt(sorted.length)) / 2);
  return sorted[Math.min(Math.max(rank, 0), sorted.length - 1)] ?? Number.NaN;
}
