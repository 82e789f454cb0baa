import { type Clock, PARTITIONS } from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';

/** Interval in ms of scans of all partitions for work. Between them, wake-ups and known leases list the partitions. */
const SCAN_MS = 1_000;

/** Options of `WorkPlaces`. */
interface WorkPlacesOptions {
  /** The script that counts the work of a partition. */
  readonly peek: 'peek' | 'peekDeliveries';
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Maximum interval in ms between two scans of all partitions. Default 1 s. */
  readonly scanMs?: number | undefined;
}

/**
 * The partitions that may have a turn, or a delivery, to claim. A scan runs one small script per partition. So it is
 * rare, and wake-ups list the partitions between two scans.
 */
export class WorkPlaces {
  readonly #calls: RedisCalls;
  readonly #peek: WorkPlacesOptions['peek'];
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #scanMs: number;
  /** The partitions to claim from, by agent. */
  readonly #named = new Map<string, Set<number>>();
  /** The agents of the last scan, and its time. */
  #looked: { readonly agents: string; readonly at: number } | undefined;
  #start = 0;

  constructor(calls: RedisCalls, { peek, clock, scanMs = SCAN_MS }: WorkPlacesOptions) {
    this.#calls = calls;
    this.#peek = peek;
    this.#clock = clock;
    this.#scanMs = scanMs;
  }

  /** Must be called when a turn of this agent can be claimed in this partition. */
  ready(partition: number, agent: string): void {
    let named = this.#named.get(agent);
    if (named === undefined) {
      named = new Set();
      this.#named.set(agent, named);
    }
    named.add(partition);
  }

  /** Returns the partitions to claim from, with a different start each time. */
  async places(agents: readonly string[]): Promise<readonly number[]> {
    const key = JSON.stringify(agents);
    const now = this.#clock.monotonic();
    if (this.#looked?.agents !== key || now - this.#looked.at >= this.#scanMs) {
      await this.#look(agents);
      this.#looked = { agents: key, at: now };
    }
    const found = new Set<number>();
    for (const agent of agents) for (const partition of this.#named.get(agent) ?? []) found.add(partition);
    this.#start = (this.#start + 97) % PARTITIONS;
    const distance = (partition: number) => (partition - this.#start + PARTITIONS) % PARTITIONS;
    return [...found].sort((a, b) => distance(a) - distance(b));
  }

  /** Removes a partition. Must be called before the claim from it, so that a later wake-up adds it again. */
  removePlace(partition: number, agents: readonly string[]): void {
    for (const agent of agents) this.#named.get(agent)?.delete(partition);
  }

  async #look(agents: readonly string[]): Promise<void> {
    const texts = agents.map((agent) => JSON.stringify(agent));
    const counts = await this.#calls.everywhere<readonly [count: number]>(this.#peek, texts);
    for (const [partition, [count]] of counts.entries()) {
      if (count === 0) continue;
      for (const agent of agents) this.ready(partition, agent);
    }
  }
}
