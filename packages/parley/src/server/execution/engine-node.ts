import { failureLevel, StorageError } from '../../errors/storage-error.js';
import { type Clock, UNENDING_MS } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { Claim, HeldTurn, Lease, Renewal } from '../../store/held-turn.js';
import type { TaskKey } from '../../store/task-key.js';
import type { TaskStorage } from '../../store/task-storage.js';
import type { Logger } from '../../telemetry/logger.js';
import type { EngineLimits } from '../engine-limits.js';
import { OneAtATime } from './one-at-a-time.js';
import { StorageClock } from './storage-clock.js';
import { TaskLooks, type WatchedTasks } from './task-looks.js';

/** A turn of this process, with its key in the storage. */
export interface LeasedTurn {
  readonly held: HeldTurn;
  /** Called with the answer to a renewal. `sentAt`: monotonic time of the request in ms. */
  renewed(renewal: Renewal, sentAt: number): void;
}

/** The engine of one agent, as seen by its process. Times are monotonic, in ms. */
export interface NodeMember extends WatchedTasks {
  readonly agent: string;
  readonly limits: EngineLimits;
  /** True once the engine accepts no more turns. */
  readonly closing: boolean;
  /** Number of running turns. */
  readonly running: number;
  /** Reads the answers that turns wait for from the storage: for one task, or for all tasks. */
  lookForReplies(key?: TaskKey): void;
  /** The turns whose leases the process renews. */
  leased(): readonly LeasedTurn[];
  /** The turn of one task, after the calls in progress that may assign it. */
  leasedOf(key: TaskKey): Promise<LeasedTurn | undefined>;
  /** Stops the turns whose leases end before a time. Returns their number, and the end of the next lease. */
  fence(before: number): { readonly fenced: number; readonly next: number | undefined };
  /** Registers a claim that may assign any turn. Returns the function that ends the registration. */
  expectClaims(): () => void;
  /** Takes over a claimed turn. If it does not run, resolves when it has ended; undefined for one that runs. */
  takeOver(claim: Claim, sentAt: number): Promise<void> | undefined;
}

/** Ports of a node. */
interface EngineNodeOptions {
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** Approximate maximum bytes of storage for the turns of one claim. */
const CLAIM_BYTES = 67_108_864;
const CLAIM_BATCH = 100;
const CLAIM_RETRY_MS = 1_000;
const BEAT_RETRY_MS = 1_000;

/**
 * One process on a storage, shared by the engines of its agents. It renews the leases of their turns, claims turns that
 * no process runs, and polls watched tasks. On a storage of one process it only claims, at the start.
 */
export class EngineNode {
  /**
   * The lease for new calls of this process, with the shortest duration among its agents. The object is never changed:
   * a call that repeats or undoes another call uses the lease of that call.
   */
  lease: Lease;
  readonly #options: EngineNodeOptions;
  readonly #members = new Set<NodeMember>();
  readonly #storageClock: StorageClock;
  /** Counts since the start. A takeover is the claim of a turn that another process had started. */
  readonly figures = { leasesLost: 0, takeovers: 0 };
  /** The queue of turns in their last attempt. */
  readonly lastAttempts = new OneAtATime();
  #looks: TaskLooks | undefined;
  #unsubscribe: (() => void) | undefined;
  #stopTimers: (() => void)[] = [];
  #stopFence: (() => void) | undefined;
  #stopBeat: (() => void) | undefined;
  #claiming = false;
  #claimAgain = false;

  constructor(options: EngineNodeOptions) {
    this.#options = options;
    this.#storageClock = new StorageClock(options.clock);
    // Unlimited if no other process can run a turn, so that a process keeps its turns after a long suspension.
    this.lease = { node: options.ids.random(), leaseMs: UNENDING_MS };
  }

  /** The clock for all stored times. On a shared storage it returns the storage's time. */
  get clock(): Clock {
    return this.#options.storage.shared ? this.#storageClock : this.#options.clock;
  }

  /** The monotonic time of a call in ms; 0 on a storage of one process, where leases do not end. */
  sentNow(): number {
    return this.#options.storage.shared ? this.#options.clock.monotonic() : 0;
  }

  /** Adds the engine of an agent. Returns the function that removes it. The node stops with its last engine. */
  join(member: NodeMember): () => void {
    const { storage, clock, logger } = this.#options;
    this.#members.add(member);
    const { node, leaseMs } = this.lease;
    if (storage.shared) this.lease = { node, leaseMs: Math.min(leaseMs, member.limits.leaseMs) };
    this.#looks ??= new TaskLooks({ storage, clock, logger, patienceMs: member.limits.storagePatienceMs });
    this.#unsubscribe ??= storage.wakeups.subscribe({
      taskChanged: (key) => {
        const member = this.#memberOf(key.scope.agent);
        if (!member?.runs(key)) return this.look(key);
        member.lookForReplies(key);
        // Without a heartbeat, this is the only check whether other code has overtaken the turn.
        if (!storage.shared) void this.#renewOne(key).then(() => this.look(key));
      },
      workReady: (agent) => {
        if (storage.shared && this.#memberOf(agent)) this.#claimSoon();
      },
      cancelAsked: (key) => void this.#renewOne(key),
    });
    return () => {
      this.#members.delete(member);
      if (this.#members.size === 0) this.#stop();
    };
  }

  /**
   * Starts the heartbeat. Required on a shared storage.
   * @throws StorageError if the storage does not return its time, which all stored times need.
   */
  async start(): Promise<void> {
    if (!this.#options.storage.shared) return;
    const isFirst = this.#stopTimers.length === 0;
    const beat = isFirst || !this.#storageClock.isSet ? this.#beat() : undefined;
    if (isFirst) {
      const { leaseRenewalMs, lookMs } = this.#shortest();
      // Separate timers: a slow claim delays no renewal.
      this.#every(leaseRenewalMs, () => void this.#beat());
      this.#every(leaseRenewalMs, () => this.#claimSoon());
      this.#every(lookMs, () => this.#lookAtAll());
    }
    await beat;
    if (!this.#storageClock.isSet) throw new StorageError('The storage does not tell its time', { told: true });
  }

  /** Passes the stored progress of a task to its listeners in this process. */
  look(key: TaskKey): void {
    const member = this.#memberOf(key.scope.agent);
    if (member !== undefined) this.#looks?.look(member, key);
  }

  /** Age of the oldest change of a watched task that the process has not read yet, in ms. */
  get lagMs(): number {
    return this.#looks?.lagMs ?? 0;
  }

  /**
   * Schedules the fence for a lease that began with a call. `sentAt`: the time of that call. The turn stops before the
   * lease ends.
   */
  guard(sentAt: number): void {
    if (!this.#options.storage.shared) return;
    const left = sentAt + this.lease.leaseMs - this.#shortest().fenceMarginMs - this.#options.clock.monotonic();
    // The answer came too late: another process may hold the turn already.
    if (left <= 0) this.#fence();
    else if (this.#stopFence === undefined) this.#fenceAt(left);
  }

  /**
   * Claims the turns that no process runs, within the limit of running turns. Resolves to a promise for each turn that
   * does not run, which resolves at its end.
   */
  async claimAll(members: readonly NodeMember[] = [...this.#members]): Promise<(Promise<void> | undefined)[]> {
    const ends: (Promise<void> | undefined)[] = [];
    for (;;) {
      const limit = Math.min(CLAIM_BATCH, this.#freeTurns());
      const claiming = members.filter((member) => this.#members.has(member) && !member.closing);
      if (limit <= 0 || claiming.length === 0) return ends;
      const claimed = await this.#claim(claiming, limit);
      ends.push(...claimed.ends);
      if (!claimed.more) return ends;
    }
  }

  async #claim(
    members: readonly NodeMember[],
    limit: number,
  ): Promise<{ readonly ends: readonly (Promise<void> | undefined)[]; readonly more: boolean }> {
    const { storage } = this.#options;
    const expected = members.map((member) => member.expectClaims());
    try {
      const sentAt = this.sentNow();
      const { claims, more } = await storage.claim({
        ...this.lease,
        agents: members.map(({ agent }) => agent),
        limit,
        maxBytes: CLAIM_BYTES,
        holds: members.flatMap((member) => member.leased().map(({ held }) => held)),
      });
      for (const { attempt } of claims) if (attempt > 1) this.figures.takeovers += 1;
      return { ends: claims.map((claim) => this.#memberOf(claim.scope.agent)?.takeOver(claim, sentAt)), more };
    } finally {
      for (const over of expected) over();
    }
  }

  /** Claims now, or after the current claim. */
  #claimSoon(): void {
    if (this.#claiming) {
      this.#claimAgain = true;
      return;
    }
    const { logger, clock } = this.#options;
    this.#claiming = true;
    this.#claimAgain = false;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      stopTimer();
      this.#claiming = false;
      if (this.#claimAgain) this.#claimSoon();
    };
    // A hanging claim must not block later ones.
    const stopTimer = clock.after(this.lease.leaseMs, over);
    this.claimAll()
      .catch((error: unknown) => logger[failureLevel(error)]('claiming turns failed, trying again', { error }))
      .finally(over);
  }

  /** Repeats the claim until the storage answers, for an engine that starts while the storage fails. */
  claimLater(member: NodeMember, error: unknown): void {
    const { logger, clock } = this.#options;
    logger[failureLevel(error)]('claiming turns failed, trying again', { error });
    clock.after(CLAIM_RETRY_MS, () => {
      this.claimAll([member]).catch((again: unknown) => this.claimLater(member, again));
    });
  }

  async #beat(): Promise<void> {
    const { storage, logger } = this.#options;
    const members = [...this.#members];
    const beat = () =>
      storage.heartbeat({
        node: this.lease.node,
        agents: members.map(({ agent }) => agent),
        runningTurns: members.reduce((sum, { running }) => sum + running, 0),
      });
    const results = await Promise.allSettled([
      this.#renew(members.flatMap((member) => member.leased())),
      this.#storageClock.measure(beat),
    ]);
    const failures = results.filter((result) => result.status === 'rejected');
    for (const { reason } of failures) logger[failureLevel(reason)]('heartbeat failed', { error: reason });
    if (failures.length > 0 && this.#stopTimers.length > 0) this.#beatAgain();
  }

  /** Renews leases as soon as the storage works again, without waiting for the next heartbeat. */
  #beatAgain(): void {
    this.#stopBeat ??= this.#options.clock.after(BEAT_RETRY_MS, () => {
      this.#stopBeat = undefined;
      void this.#beat();
    });
  }

  async #renew(turns: readonly LeasedTurn[]): Promise<void> {
    if (turns.length === 0) return;
    const sentAt = this.sentNow();
    const renewals = await this.#options.storage.renew({ ...this.lease, turns: turns.map(({ held }) => held) });
    for (const [at, turn] of turns.entries()) {
      const renewal = renewals[at];
      if (renewal !== undefined) turn.renewed(renewal, sentAt);
    }
  }

  /** Renews one lease at once, because the answer contains the request to cancel. */
  async #renewOne(key: TaskKey): Promise<void> {
    const turn = await this.#memberOf(key.scope.agent)?.leasedOf(key);
    if (turn === undefined) return;
    const { logger } = this.#options;
    await this.#renew([turn]).catch((error: unknown) => logger[failureLevel(error)]('heartbeat failed', { error }));
  }

  /**
   * Stops turns whose leases were not renewed in time. The process then gets a new id, because a node does not reclaim
   * its own leases. So the storage also refuses a late acceptance of a stopped draft after the process has reserved the
   * same message again.
   */
  #fence(): void {
    const { clock, logger } = this.#options;
    let fenced = 0;
    let next = Number.POSITIVE_INFINITY;
    for (const member of this.#members) {
      const result = member.fence(clock.monotonic() + this.#shortest().fenceMarginMs);
      fenced += result.fenced;
      next = Math.min(next, result.next ?? next);
    }
    if (fenced > 0) {
      logger.error('leases could not be renewed in time, their turns are stopped', { turns: fenced });
      this.lease = { ...this.lease, node: this.#options.ids.random() };
    }
    this.#stopFence?.();
    this.#stopFence = undefined;
    if (next < Number.POSITIVE_INFINITY) this.#fenceAt(next - this.#shortest().fenceMarginMs - clock.monotonic());
  }

  #fenceAt(ms: number): void {
    this.#stopFence = this.#options.clock.after(Math.max(1, ms), () => {
      this.#stopFence = undefined;
      this.#fence();
    });
  }

  #lookAtAll(): void {
    for (const member of this.#members) {
      this.#looks?.lookAtAll(member);
      member.lookForReplies();
    }
  }

  #every(ms: number, work: () => void): void {
    const at = this.#stopTimers.length;
    const again = () => {
      this.#stopTimers[at] = this.#options.clock.after(ms, () => {
        again();
        work();
      });
    };
    again();
  }

  #stop(): void {
    for (const stop of this.#stopTimers) stop();
    this.#stopTimers = [];
    this.#stopBeat?.();
    this.#stopBeat = undefined;
    this.#stopFence?.();
    this.#stopFence = undefined;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#looks?.close();
    this.#looks = undefined;
  }

  #memberOf(agent: string): NodeMember | undefined {
    for (const member of this.#members) if (member.agent === agent) return member;
    return undefined;
  }

  /** Returns how many more turns this process may claim. Unlimited if no other process can run them. */
  #freeTurns(): number {
    if (!this.#options.storage.shared) return CLAIM_BATCH;
    let running = 0;
    let most = 0;
    for (const { running: own, limits } of this.#members) {
      running += own;
      most = Math.max(most, limits.runningTurns);
    }
    return most - running;
  }

  #shortest(): Pick<EngineLimits, 'leaseRenewalMs' | 'lookMs' | 'fenceMarginMs'> {
    const all = Array.from(this.#members, ({ limits }) => limits);
    return {
      leaseRenewalMs: Math.min(...all.map(({ leaseRenewalMs }) => leaseRenewalMs)),
      lookMs: Math.min(...all.map(({ lookMs }) => lookMs)),
      fenceMarginMs: Math.min(this.lease.leaseMs / 5, ...all.map(({ fenceMarginMs }) => fenceMarginMs)),
    };
  }
}
