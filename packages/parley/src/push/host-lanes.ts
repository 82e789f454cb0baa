/** Limits of running requests. */
export interface LaneLimits {
  /** Requests in all. */
  readonly inFlight: number;
  /** Requests to one host. A new host begins with fewer. */
  readonly inFlightPerHost: number;
}

/** Work for one host, on behalf of one owner. */
export interface HostWork {
  readonly host: string;
  /** The owner of the task. */
  readonly owner: string;
  /** Called when the work may begin. */
  begin(): void;
}

interface Lane {
  /** Requests that the host may have now. */
  limit: number;
  running: number;
  /** Oldest first. */
  waiting: HostWork[];
  /** The time of the last answer, or of the first request after an idle time. */
  progressAt: number;
  /** Refusals of work since the last answer. */
  refused: number;
}

interface Owner {
  /** The work under way with the times of its begin, oldest first. */
  readonly running: Map<HostWork, number>;
  /** Until this time the owner has no work queued beyond its share. */
  slowUntil: number;
  /** Refusals of work since the owner became slow. */
  refused: number;
}

const FIRST_LIMIT = 4;
const STUCK_MS = 1_000;
const SLOW_MS = 60_000;
/** The most requests of one owner for each free request. */
const SHARE = 3;
const KNOWN_HOSTS = 1_000;
const KNOWN_OWNERS = 1_000;
const REFUSED_MS = 2_000;
const REFUSED_EACH_MS = 20;
const REFUSED_MAX_MS = 60_000;

/**
 * Distributes requests over hosts and owners. Each host has a lane, which grows with its answers and shrinks without
 * them. An owner has at most three times as many running requests as are free, so the next owner always finds a free
 * one. A host or an owner whose requests stay unanswered keeps no work queued. Pure bookkeeping: callers pass the
 * times.
 */
export class HostLanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  readonly #owners = new Map<string, Owner>();
  #running = 0;
  #waiting = 0;
  /** True if work may wait for the share of its owner, while its lane is free. */
  #isShareShort = false;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  /** The number of requests that have begun. */
  get running(): number {
    return this.#running;
  }

  /** The number of requests that may be added before the lanes are full. */
  get room(): number {
    return this.#limits.inFlight - this.#running - this.#waiting;
  }

  /**
   * Accepts work, and begins it at once if its lane and the share of its owner have room. Returns false, without
   * accepting it, if the host is stuck or the owner is slow.
   */
  add(work: HostWork, now: number): boolean {
    const lane = this.#lane(work.host, now);
    const owner = this.#owner(work.owner);
    if (this.#isFree(lane, owner)) {
      this.#begin(work, now);
      return true;
    }
    if (this.#isHeldUp(lane, owner, now)) {
      refuse(lane, owner, now);
      return false;
    }
    if (lane.running < lane.limit) this.#isShareShort = true;
    lane.waiting.push(work);
    this.#waiting += 1;
    return true;
  }

  /** Ends work. `answered`: the host gave any answer. */
  end(work: HostWork, answered: boolean, now: number): void {
    const lane = this.#lane(work.host, now);
    this.#owner(work.owner).running.delete(work);
    lane.running -= 1;
    this.#running -= 1;
    if (answered) {
      lane.progressAt = now;
      lane.refused = 0;
      lane.limit = Math.min(this.#limits.inFlightPerHost, lane.limit + 1);
    } else {
      lane.limit = Math.max(1, lane.limit >> 1);
    }
    if (this.#isShareShort) this.#beginAllWaiting(now);
    else this.#beginWaiting(lane, now);
    this.#forgetIdle(now);
  }

  /** Removes and returns the queued work of stuck hosts and slow owners. */
  evict(now: number): readonly HostWork[] {
    const evicted: HostWork[] = [];
    for (const lane of this.#lanes.values()) {
      lane.waiting = lane.waiting.filter((work) => {
        const owner = this.#owner(work.owner);
        if (!this.#isHeldUp(lane, owner, now)) return true;
        refuse(lane, owner, now);
        evicted.push(work);
        return false;
      });
    }
    this.#waiting -= evicted.length;
    return evicted;
  }

  /** Removes and returns all queued work. */
  clear(): readonly HostWork[] {
    const left = [...this.#lanes.values()].flatMap(({ waiting }) => waiting.splice(0));
    this.#waiting = 0;
    return left;
  }

  /** The delay in ms before refused work may be added again. It grows with the number of refusals. */
  refusedMs({ host, owner }: HostWork): number {
    const refused = Math.max(this.#lanes.get(host)?.refused ?? 0, this.#owners.get(owner)?.refused ?? 0);
    return Math.min(REFUSED_MAX_MS, REFUSED_MS + REFUSED_EACH_MS * refused);
  }

  #isFree({ running, limit }: Lane, owner: Owner): boolean {
    return running < limit && this.#running < this.#limits.inFlight && owner.running.size < this.#share;
  }

  /** The running requests that one owner may have. The last free one is for an owner without any. */
  get #share(): number {
    return Math.max(1, SHARE * (this.#limits.inFlight - this.#running - 1));
  }

  /** True if work that cannot begin now would wait for unanswered requests. */
  #isHeldUp(lane: Lane, owner: Owner, now: number): boolean {
    if (lane.running >= lane.limit) return now - lane.progressAt > STUCK_MS;
    return owner.slowUntil > now || isSlow(owner, now);
  }

  #beginAllWaiting(now: number): void {
    this.#isShareShort = false;
    for (const lane of this.#lanes.values()) this.#beginWaiting(lane, now);
  }

  #beginWaiting(lane: Lane, now: number): void {
    for (let at = 0; lane.running < lane.limit && at < lane.waiting.length; ) {
      const next = lane.waiting[at];
      if (next === undefined || !this.#isFree(lane, this.#owner(next.owner))) {
        this.#isShareShort = true;
        at += 1;
        continue;
      }
      lane.waiting.splice(at, 1);
      this.#waiting -= 1;
      this.#begin(next, now);
    }
  }

  #begin(work: HostWork, now: number): void {
    const lane = this.#lane(work.host, now);
    if (lane.running === 0) lane.progressAt = now;
    lane.running += 1;
    this.#running += 1;
    this.#owner(work.owner).running.set(work, now);
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

  #owner(name: string): Owner {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { running: new Map(), slowUntil: 0, refused: 0 };
      this.#owners.set(name, owner);
    }
    return owner;
  }

  #forgetIdle(now: number): void {
    forget(this.#lanes, KNOWN_HOSTS, ({ running, waiting }) => running === 0 && waiting.length === 0);
    forget(this.#owners, KNOWN_OWNERS, ({ running, slowUntil }) => running.size === 0 && slowUntil <= now);
  }
}

/** True if at least half of an owner's running requests have been unanswered for long. */
function isSlow({ running }: Owner, now: number): boolean {
  let overdue = 0;
  for (const begunAt of running.values()) {
    if (now - begunAt <= STUCK_MS) break;
    overdue += 1;
  }
  return overdue * 2 >= Math.max(2, running.size);
}

/** Counts refused work for its cause: the host, or the owner. */
function refuse(lane: Lane, owner: Owner, now: number): void {
  if (lane.running >= lane.limit) {
    lane.refused += 1;
    return;
  }
  if (owner.slowUntil <= now) owner.refused = 0;
  owner.slowUntil = Math.max(owner.slowUntil, now + SLOW_MS);
  owner.refused += 1;
}

function forget<Entry>(entries: Map<string, Entry>, most: number, isIdle: (entry: Entry) => boolean): void {
  if (entries.size <= most) return;
  for (const [name, entry] of entries) {
    if (isIdle(entry)) entries.delete(name);
    if (entries.size <= most) return;
  }
}
