/** Replicas that run turns. Times are in seconds. */
export interface Fleet {
  readonly replicas: number;
  /** Turns that one replica runs at the same time. */
  readonly slots: number;
  readonly leaseSeconds: number;
  /** Interval in which a replica renews its leases and claims turns. */
  readonly beatSeconds: number;
}

/** Turns that arrive at random times. */
export interface Turns {
  readonly perSecond: number;
  /** Mean time of a turn. */
  readonly seconds: number;
}

/** The part of all slots that is busy. From 1 on, the queue grows without end. */
export function utilisation({ replicas, slots }: Fleet, { perSecond, seconds }: Turns): number {
  return (perSecond * seconds) / (replicas * slots);
}

/**
 * The mean time that a turn waits for a slot: Erlang C, for exponential times of turns. The fleet is one queue, because
 * any replica claims what waits.
 */
export function meanWaitSeconds(fleet: Fleet, turns: Turns): number {
  const load = turns.perSecond * turns.seconds;
  const servers = fleet.replicas * fleet.slots;
  if (load >= servers) return Number.POSITIVE_INFINITY;
  // The recursion of Erlang B is stable for large fleets, where factorials are not.
  let blocked = 1;
  for (let count = 1; count <= servers; count++) blocked = (load * blocked) / (count + load * blocked);
  const waits = blocked / (1 - (load / servers) * (1 - blocked));
  return (waits * turns.seconds) / (servers - load);
}

/**
 * The mean time from the end of a process to the next attempt of its turns. The last renewal was half an interval ago
 * on average. A claim follows the end of the lease: each replica claims at its beats and when one of its turns ends.
 */
export function meanTakeoverSeconds({ leaseSeconds, beatSeconds, replicas }: Fleet, { perSecond }: Turns): number {
  return leaseSeconds - beatSeconds / 2 + 1 / (replicas / beatSeconds + perSecond);
}

/** The longest time to the next attempt, if slots are free: a lease that was just renewed, and a whole interval. */
export function longestTakeoverSeconds({ leaseSeconds, beatSeconds }: Fleet): number {
  return leaseSeconds + beatSeconds;
}

/** The smallest fleet that stays below a utilisation, also while one of its replicas is down. */
export function replicasNeeded(concurrent: number, { slots, most }: { readonly slots: number; readonly most: number }) {
  return Math.ceil(concurrent / (slots * most)) + 1;
}
