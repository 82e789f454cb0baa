import type { Fleet, Turns } from './queueing.js';

/** A run of the simulation. */
export interface SimulationOptions {
  readonly fleet: Fleet;
  readonly turns: Turns;
  /** Simulated time, after a tenth of it as warm-up. */
  readonly seconds: number;
  /** Mean time between two crashes of a replica. A crashed replica starts again at once. Absent: none. */
  readonly crashEverySeconds?: number;
  readonly seed: number;
}

/** The results of a run. Waits are times from the arrival, or the crash, to the begin of the attempt. */
export interface SimulationResult {
  readonly finished: number;
  readonly utilisation: number;
  readonly meanWaitSeconds: number;
  readonly p99WaitSeconds: number;
  readonly takeovers: readonly number[];
  /** Turns that did not start or end although there was enough time. */
  readonly stuck: number;
}

interface Turn {
  readonly arrivedAt: number;
  readonly seconds: number;
  /** Set by a crash: the time of the crash, and the time from which another replica may claim it. */
  crashedAt?: number;
  claimableAt: number;
  begunAt?: number;
  done: boolean;
}

interface SimulatedReplica {
  running: Set<Turn>;
  /** Increases with each crash, which makes the planned steps of the earlier process void. */
  life: number;
  /** The phase of its beats. A process that starts again has another one. */
  phase: number;
}

interface Step {
  readonly at: number;
  run(): void;
}

/**
 * Simulates the claim loop. A message goes to a random replica, which runs the turn at once if it has a free slot. If
 * not, the turn waits, and any replica claims it: when a slot becomes free, by a wake-up, or at a beat. A crashed
 * replica leaves leases behind, which end a lease after their last renewal.
 */
export function simulate(options: SimulationOptions): SimulationResult {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #random: () => number;
  readonly #steps = new StepQueue();
  readonly #replicas: readonly SimulatedReplica[];
  readonly #waiting: Turn[] = [];
  readonly #all: Turn[] = [];
  readonly #takeovers: number[] = [];
  #now = 0;
  #busySeconds = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = seeded(options.seed);
    const { replicas, beatSeconds } = options.fleet;
    const phase = () => this.#random() * beatSeconds;
    this.#replicas = Array.from({ length: replicas }, () => ({ running: new Set<Turn>(), life: 0, phase: phase() }));
  }

  run(): SimulationResult {
    const { fleet, turns, seconds, crashEverySeconds } = this.#options;
    this.#planArrival();
    for (const replica of this.#replicas) this.#planBeat(replica, replica.phase);
    if (crashEverySeconds !== undefined) this.#planCrash(crashEverySeconds);
    for (let step = this.#steps.next(); step !== undefined && step.at <= seconds; step = this.#steps.next()) {
      this.#now = step.at;
      step.run();
    }
    const settled = this.#all.filter(({ arrivedAt }) => arrivedAt > seconds / 10);
    const first = settled.filter((turn) => turn.crashedAt === undefined && turn.begunAt !== undefined);
    const waits = first.map(({ begunAt = 0, arrivedAt }) => begunAt - arrivedAt).sort((one, other) => one - other);
    const patience = 20 * turns.seconds + 4 * fleet.leaseSeconds;
    const stuck = this.#all.filter(({ done, arrivedAt }) => !done && arrivedAt < seconds - patience).length;
    return {
      finished: this.#all.filter(({ done }) => done).length,
      utilisation: this.#busySeconds / (seconds * fleet.replicas * fleet.slots),
      meanWaitSeconds: waits.reduce((sum, wait) => sum + wait, 0) / Math.max(1, waits.length),
      p99WaitSeconds: waits[Math.floor(0.99 * waits.length)] ?? 0,
      takeovers: this.#takeovers,
      stuck,
    };
  }

  #planArrival(): void {
    const { turns } = this.#options;
    this.#steps.add(this.#now + this.#exponential(1 / turns.perSecond), () => {
      this.#planArrival();
      const seconds = this.#exponential(turns.seconds);
      const turn: Turn = { arrivedAt: this.#now, seconds, claimableAt: this.#now, done: false };
      this.#all.push(turn);
      const taker = this.#replicas[Math.floor(this.#random() * this.#replicas.length)];
      const idle =
        taker !== undefined && this.#hasRoom(taker) ? taker : this.#replicas.find((one) => this.#hasRoom(one));
      if (idle === undefined) this.#waiting.push(turn);
      else this.#begin(idle, turn);
    });
  }

  #planBeat(replica: SimulatedReplica, inSeconds: number): void {
    const { life } = replica;
    this.#steps.add(this.#now + inSeconds, () => {
      if (replica.life !== life) return;
      this.#claim(replica);
      this.#planBeat(replica, this.#options.fleet.beatSeconds);
    });
  }

  #planCrash(everySeconds: number): void {
    this.#steps.add(this.#now + this.#exponential(everySeconds), () => {
      const replica = this.#replicas[Math.floor(this.#random() * this.#replicas.length)];
      if (replica !== undefined) this.#crash(replica);
      this.#planCrash(everySeconds);
    });
  }

  #crash(replica: SimulatedReplica): void {
    const { leaseSeconds, beatSeconds } = this.#options.fleet;
    // The last beat of the replica renewed all leases. Leases of younger turns began later.
    const sinceBeat = (this.#now - replica.phase + beatSeconds) % beatSeconds;
    for (const turn of replica.running) {
      const renewedAt = Math.max(this.#now - sinceBeat, turn.begunAt ?? 0);
      turn.crashedAt = this.#now;
      turn.claimableAt = renewedAt + leaseSeconds;
      this.#waiting.push(turn);
    }
    replica.running = new Set();
    replica.life += 1;
    const inSeconds = this.#random() * beatSeconds;
    replica.phase = (this.#now + inSeconds) % beatSeconds;
    this.#planBeat(replica, inSeconds);
  }

  #claim(replica: SimulatedReplica): void {
    while (this.#hasRoom(replica)) {
      const at = this.#waiting.findIndex(({ claimableAt }) => claimableAt <= this.#now);
      const [turn] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (turn === undefined) return;
      this.#begin(replica, turn);
    }
  }

  #begin(replica: SimulatedReplica, turn: Turn): void {
    if (turn.crashedAt !== undefined) this.#takeovers.push(this.#now - turn.crashedAt);
    turn.begunAt = this.#now;
    replica.running.add(turn);
    const { life } = replica;
    this.#steps.add(this.#now + turn.seconds, () => {
      if (replica.life !== life) return;
      replica.running.delete(turn);
      turn.done = true;
      this.#busySeconds += turn.seconds;
      this.#claim(replica);
    });
  }

  #hasRoom({ running }: SimulatedReplica): boolean {
    return running.size < this.#options.fleet.slots;
  }

  #exponential(mean: number): number {
    return -mean * Math.log(1 - this.#random());
  }
}

/** Steps by their time: a binary heap. */
class StepQueue {
  readonly #heap: Step[] = [];

  add(at: number, run: () => void): void {
    const heap = this.#heap;
    heap.push({ at, run });
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfEarlier(child, parent)) return;
      child = parent;
    }
  }

  next(): Step | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      if (left >= heap.length) return first;
      const right = left + 1;
      const child = right < heap.length && (heap[right]?.at ?? 0) < (heap[left]?.at ?? 0) ? right : left;
      if (!this.#swapIfEarlier(child, parent)) return first;
      parent = child;
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const [below, above] = [this.#heap[child], this.#heap[parent]];
    if (below === undefined || above === undefined || below.at >= above.at) return false;
    this.#heap[child] = above;
    this.#heap[parent] = below;
    return true;
  }
}

/** Numbers from 0 to 1 that follow from the seed: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
