/** Limits of requests under way. */
export interface LaneLimits {
  /** Requests in all. */
  readonly inFlight: number;
  /** Requests to one host. A new host begins with fewer. */
  readonly inFlightPerHost: number;
}

/** Work for one host. */
export interface HostWork {
  readonly host: string;
  /** Called when the work may begin. */
  begin(): void;
}

interface Lane {
  /** Requests that the host may have now. */
  limit: number;
  running: number;
  waiting: HostWork[];
  /** The time of the last answer, or of the first request after a rest. */
  progressAt: number;
  /** Works that were refused since the last answer. */
  refused: number;
}

const FIRST_LIMIT = 4;
const STUCK_MS = 1_000;
const KNOWN_HOSTS = 1_000;
const REFUSED_MS = 2_000;
const REFUSED_EACH_MS = 20;
const REFUSED_MAX_MS = 60_000;

/**
 * Distributes requests over hosts. Each host has a lane, which grows with its answers and shrinks when none come. A
 * host that answers nothing keeps no work waiting, so that it does not hold up others. Pure bookkeeping: times are
 * given.
 */
export class HostLanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #waiting = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  /** Works that have begun. */
  get running(): number {
    return this.#running;
  }

  /** Works that may be added before the lanes are full. */
  get room(): number {
    return this.#limits.inFlight - this.#running - this.#waiting;
  }

  /**
   * Takes work, and begins it at once if its lane is free. False if the host is stuck: the work is not taken.
   */
  add(work: HostWork, now: number): boolean {
    const lane = this.#lane(work.host, now);
    if (lane.running < lane.limit) {
      this.#begin(lane, work, now);
      return true;
    }
    if (isStuck(lane, now)) {
      lane.refused += 1;
      return false;
    }
    lane.waiting.push(work);
    this.#waiting += 1;
    return true;
  }

  /** Ends work. `answered`: the host answered something. */
  end(host: string, answered: boolean, now: number): void {
    const lane = this.#lane(host, now);
    lane.running -= 1;
    this.#running -= 1;
    if (answered) {
      lane.progressAt = now;
      lane.refused = 0;
      lane.limit = Math.min(this.#limits.inFlightPerHost, lane.limit + 1);
    } else {
      lane.limit = Math.max(1, lane.limit >> 1);
    }
    while (lane.running < lane.limit) {
      const next = lane.waiting.shift();
      if (next === undefined) break;
      this.#waiting -= 1;
      this.#begin(lane, next, now);
    }
    this.#forgetIdle();
  }

  /** Takes all waiting work of stuck hosts out. */
  evict(now: number): readonly HostWork[] {
    const evicted: HostWork[] = [];
    for (const lane of this.#lanes.values()) {
      if (!isStuck(lane, now)) continue;
      lane.refused += lane.waiting.length;
      evicted.push(...lane.waiting.splice(0));
    }
    this.#waiting -= evicted.length;
    return evicted;
  }

  /** Takes all waiting work out. */
  clear(): readonly HostWork[] {
    const left = [...this.#lanes.values()].flatMap(({ waiting }) => waiting.splice(0));
    this.#waiting = 0;
    return left;
  }

  /** The time after which refused work of a host may come again. It grows with the amount of such work. */
  refusedMs(host: string): number {
    const { refused = 0 } = this.#lanes.get(host) ?? {};
    return Math.min(REFUSED_MAX_MS, REFUSED_MS + REFUSED_EACH_MS * refused);
  }

  #begin(lane: Lane, work: HostWork, now: number): void {
    if (lane.running === 0) lane.progressAt = now;
    lane.running += 1;
    this.#running += 1;
    work.begin();
  }

  #lane(host: string, now: number): Lane {
    let lane = this.#lanes.get(host);
    if (lane === undefined) {
      const limit = Math.min(FIRST_LIMIT, this.#limits.inFlightPerHost);
      lane = { limit, running: 0, waiting: [], progressAt: now, refused: 0 };
      this.#lanes.set(host, lane);
    }
    return lane;
  }

  #forgetIdle(): void {
    if (this.#lanes.size <= KNOWN_HOSTS) return;
    for (const [host, { running, waiting }] of this.#lanes) {
      if (running === 0 && waiting.length === 0) this.#lanes.delete(host);
      if (this.#lanes.size <= KNOWN_HOSTS) return;
    }
  }
}

function isStuck({ progressAt, running, limit }: Lane, now: number): boolean {
  return running >= limit && now - progressAt > STUCK_MS;
}
