import type { WireCodec } from '../codec/wire-codec.js';
import { failureLevel } from '../errors/storage-error.js';
import type { SendPost } from '../net/posts.js';
import type { Clock } from '../runtime/clock.js';
import { EqualTimers } from '../runtime/equal-timers.js';
import type { IdSource } from '../runtime/id-source.js';
import type { DeliveryClaim, StoredPushConfig } from '../store/push-storage.js';
import { taskKeyText } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import type { PushFigures } from '../telemetry/server-figures.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { DeliveryPolicy } from './delivery-policy.js';
import { DueTimes } from './due-times.js';
import { HostLanes, type HostWork, type LaneLimits } from './host-lanes.js';
import { hostOf, NotificationCalls, type NotificationSigner, queueFields } from './notification-calls.js';
import type { NotificationChange } from './notifications.js';
import type { OperatorHeaders } from './operator-headers.js';
import { PushTally } from './push-tally.js';
import { type DeliveryEnd, deliverQueue } from './queue-delivery.js';
import { QueueHold } from './queue-hold.js';
import { SettlementGroup } from './settlements.js';

/** Ports and limits of a sender. */
interface DeliverySenderOptions {
  readonly storage: TaskStorage;
  /** The agents whose notifications it sends. */
  readonly agents: readonly string[];
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  /** Sends to the webhooks that the operator allows. */
  readonly send: SendPost;
  /** The codec of a protocol version, `Major.Minor`. */
  readonly codecOf: (version: string | undefined) => WireCodec;
  readonly policy: DeliveryPolicy;
  /** The lease of a claimed queue, in ms. It is renewed while requests are under way. */
  readonly leaseMs: number;
  readonly limits: LaneLimits;
  readonly headers?: OperatorHeaders | undefined;
  readonly sign?: NotificationSigner | undefined;
  /** Makes a span for each attempt. Absent: none. */
  readonly tracing?: Tracing | undefined;
  /** Rewrites notifications, by agent. */
  readonly changes?: ReadonlyMap<string, NotificationChange | undefined>;
}

const CLAIM_BYTES = 4_194_304;
const CLAIM_QUEUES = 128;
/** The share of a lease in which the request of a waiting queue may begin. */
const FRESH_SHARE = 2 / 3;
const RETRY_MS = 1_000;
/** Number of claims per lease, to find queues of other processes. */
const LOOKS = 3;
const LISTED = 1_000;

interface Delivery extends HostWork {
  readonly claim: DeliveryClaim;
  readonly claimedAt: number;
}

/**
 * Sends the notifications of a process: claims queues that are due, sends their records in order, and settles them. A
 * host that does not answer delays no other host, and the owner of many such hosts no other owner. Without push
 * configurations it does nothing.
 */
export class DeliverySender {
  readonly #options: DeliverySenderOptions;
  readonly #node: string;
  readonly #lanes: HostLanes;
  readonly #tally: PushTally;
  readonly #due: DueTimes;
  readonly #group: SettlementGroup;
  readonly #timeouts: EqualTimers;
  readonly #running = new Set<Promise<void>>();
  readonly #holds = new Set<QueueHold>();
  #unsubscribe: (() => void) | undefined;
  #stopLooking: (() => void) | undefined;
  #stopEvicting: (() => void) | undefined;
  #isAsked = false;
  #isWanted = false;
  #claiming: Promise<void> | undefined;
  #isClosing = false;
  #isStopped = false;

  constructor(options: DeliverySenderOptions) {
    const { clock, ids, limits, leaseMs, policy } = options;
    this.#options = options;
    this.#node = ids.random();
    this.#lanes = new HostLanes(limits);
    // Within this time a claimed queue of this process is settled or postponed.
    this.#tally = new PushTally(policy.timeoutMs + leaseMs);
    this.#due = new DueTimes(clock, () => this.#ask());
    this.#group = new SettlementGroup(clock);
    this.#timeouts = new EqualTimers(clock, policy.timeoutMs);
  }

  /** The current metrics of this process. */
  get figures(): PushFigures {
    return this.#tally.figures(this.#lanes.running, this.#options.clock.monotonic());
  }

  /** Sends what is due, and from now on what becomes due. */
  start(): void {
    const { storage, agents } = this.#options;
    if (agents.length === 0 || this.#unsubscribe !== undefined) return;
    const mine = new Set(agents);
    this.#unsubscribe = storage.wakeups.subscribe({
      deliveryReady: (agent) => {
        if (mine.has(agent)) this.#ask();
      },
    });
    this.#ask();
    void this.#noteRetries();
    if (storage.shared) this.#keepLooking();
  }

  /** Starts no more attempts. Running attempts may end within the grace. Then they are aborted, and repeated later. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#unsubscribe?.();
    this.#stopLooking?.();
    this.#stopEvicting?.();
    this.#due.clear();
    const stopTimer = this.#options.clock.after(graceMs, () => this.#stop());
    if (graceMs <= 0) this.#stop();
    await this.#claiming;
    await Promise.all(this.#lanes.clear().map((work) => this.#giveBack(work as Delivery, 0)));
    while (this.#running.size > 0) await Promise.all(this.#running);
    stopTimer();
  }

  /** Aborts the running attempts. */
  #stop(): void {
    this.#isStopped = true;
    for (const hold of this.#holds) hold.lose();
  }

  /** Schedules a claim. Several calls before it runs cause one claim. */
  #ask(): void {
    this.#isWanted = true;
    if (this.#isAsked || this.#isClosing) return;
    this.#isAsked = true;
    this.#options.clock.soon(() => {
      this.#isAsked = false;
      this.#claiming ??= this.#claimAll().finally(() => {
        this.#claiming = undefined;
        if (this.#isWanted && this.#lanes.room > 0) this.#ask();
      });
    });
  }

  async #claimAll(): Promise<void> {
    const { storage, agents, clock, logger, leaseMs } = this.#options;
    while (this.#isWanted && !this.#isClosing) {
      const limit = Math.min(CLAIM_QUEUES, this.#lanes.room);
      if (limit <= 0) return this.#evictSoon();
      this.#isWanted = false;
      const claimedAt = clock.monotonic();
      try {
        const lease = { node: this.#node, leaseMs };
        const { claims, more } = await storage.push.claim({ ...lease, agents, limit, maxBytes: CLAIM_BYTES });
        if (more) this.#isWanted = true;
        for (const claim of claims) this.#take(claim, claimedAt);
      } catch (error) {
        logger[failureLevel(error)]('claiming push deliveries failed, trying again', { error });
        this.#due.add(RETRY_MS);
      }
    }
  }

  #take(claim: DeliveryClaim, claimedAt: number): void {
    const { clock } = this.#options;
    const host = hostOf(claim.config.url);
    // Anonymous callers are one owner. No user has an empty id.
    const owner = claim.key.scope.owner ?? '';
    const delivery: Delivery = { host, owner, claim, claimedAt, begin: () => this.#begin(delivery) };
    if (this.#isClosing) return this.#track(this.#giveBack(delivery, 0));
    const isTaken = this.#lanes.add(delivery, clock.monotonic());
    if (!isTaken) this.#track(this.#giveBack(delivery, this.#lanes.refusedMs(delivery)));
  }

  #begin(delivery: Delivery): void {
    this.#track(this.#deliver(delivery));
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { storage, clock, policy, leaseMs, random, codecOf, changes, logger } = this.#options;
    const { claim, claimedAt } = delivery;
    const codec = codecOf(claim.config.registeredIn);
    const hold = new QueueHold(claim, { storage, clock, leaseMs, claimedAt });
    const calls = new NotificationCalls(claim, {
      ...this.#options,
      mediaType: codec.notification.mediaType,
      timeouts: this.#timeouts,
      hold,
    });
    this.#holds.add(hold);
    try {
      if (clock.monotonic() - claimedAt > leaseMs * FRESH_SHARE) return await this.#giveBack(delivery, 0);
      const end = await deliverQueue(claim, {
        storage,
        codec,
        change: changes?.get(claim.key.scope.agent),
        policy,
        leaseMs,
        random,
        clock,
        group: this.#group,
        isStopping: () => this.#isStopped || hold.isLost,
        isCurrent: this.#currencyOf(claim),
        send: calls.send,
        traceOfAttempt: () => calls.trace,
      });
      this.#note(claim, end);
    } catch (error) {
      logger[failureLevel(error)]('push delivery was not settled, it is made again', { ...queueFields(claim), error });
      this.#putOff(claim, leaseMs);
    } finally {
      hold.release();
      this.#holds.delete(hold);
      this.#lanes.end(delivery, calls.isAnswered, clock.monotonic());
      if (this.#isWanted) this.#ask();
    }
  }

  /** Returns a check to be made before each request, because any process can delete or replace the configuration. */
  #currencyOf({ key, configId, config }: DeliveryClaim): () => Promise<boolean> {
    const { push } = this.#options.storage;
    let same: StoredPushConfig = config;
    return async () => {
      const now = await push.config(key.scope, key.id, configId);
      // Most storages return the same object until it is replaced.
      if (now === same) return true;
      if (now === undefined || JSON.stringify(now) !== JSON.stringify(config)) return false;
      same = now;
      return true;
    };
  }

  /**
   * Counts and logs the end of a delivery. The log names only the host of a webhook, because the url may hold a secret.
   */
  #note(claim: DeliveryClaim, { delivered, failure, lost, refused = 0, held }: DeliveryEnd): void {
    const { logger, clock } = this.#options;
    const queue = queueOf(claim);
    this.#tally.delivered += delivered;
    if (lost > 0)
      logger.warn('push notifications are lost: the log no longer has their events', { ...queueFields(claim), lost });
    if (refused > 0 && held)
      logger.warn('push notifications are given up, because their receiver refuses them', {
        ...queueFields(claim),
        refused,
      });
    if (failure === undefined || !held) return this.#tally.goesOn(queue);
    const { outcome, attempts, result, error } = failure;
    this.#tally.failed += 1;
    const status = result.kind === 'answer' ? { status: result.status } : { reason: result.reason };
    if (outcome.kind === 'park') {
      this.#tally.goesOn(queue);
      this.#tally.parked += 1;
      const { reason } = outcome;
      logger.warn('push notifications are parked until a replay', {
        ...queueFields(claim),
        attempts,
        reason,
        ...(error !== undefined && { error }),
      });
    } else if (outcome.kind === 'retry') {
      this.#tally.waits(queue, { now: clock.monotonic(), inMs: outcome.inMs });
      this.#due.add(outcome.inMs);
      logger.info('push notification failed, trying again', {
        ...queueFields(claim),
        attempts,
        ...status,
        inMs: outcome.inMs,
      });
    }
  }

  /** Gives a queue back without an attempt. */
  async #giveBack({ claim }: Delivery, inMs: number): Promise<void> {
    const { storage, logger } = this.#options;
    try {
      await storage.push.settle(claim, { kind: 'defer', inMs });
      this.#putOff(claim, inMs);
    } catch (error) {
      logger[failureLevel(error)]('push delivery was not settled, it is made again', { ...queueFields(claim), error });
      this.#putOff(claim, this.#options.leaseMs);
    }
  }

  /** Records a queue without an attempt, or with one that was not settled. Its next attempt is due in `inMs`. */
  #putOff(claim: DeliveryClaim, inMs: number): void {
    this.#tally.putOff(queueOf(claim), { now: this.#options.clock.monotonic(), inMs });
    this.#due.add(inMs);
  }

  /** Schedules an eviction, if unresponsive hosts have taken all room. */
  #evictSoon(): void {
    const { clock } = this.#options;
    this.#stopEvicting ??= clock.after(RETRY_MS, () => {
      this.#stopEvicting = undefined;
      const evicted = this.#lanes.evict(clock.monotonic()) as readonly Delivery[];
      for (const delivery of evicted) this.#track(this.#giveBack(delivery, this.#lanes.refusedMs(delivery)));
      if (this.#lanes.room > 0) this.#ask();
      else this.#evictSoon();
    });
  }

  /** Schedules the retries of earlier processes, which cause no wake-up. */
  async #noteRetries(): Promise<void> {
    const { storage, agents, logger } = this.#options;
    try {
      const [now, { queues, next }] = await Promise.all([
        storage.now(),
        storage.push.queues({ agents, standing: 'pending', limit: LISTED }),
      ]);
      for (const { dueAt = now } of queues) this.#due.add(dueAt - now);
      if (next !== undefined && this.#stopLooking === undefined) this.#keepLooking();
    } catch (error) {
      logger[failureLevel(error)]('listing push deliveries failed, trying again', { error });
      this.#keepLooking();
    }
  }

  #keepLooking(): void {
    if (this.#isClosing) return;
    const { clock, leaseMs } = this.#options;
    this.#stopLooking = clock.after(leaseMs / LOOKS, () => {
      this.#ask();
      this.#keepLooking();
    });
  }
}

function queueOf({ key, configId }: DeliveryClaim): string {
  return `${taskKeyText(key)} ${configId}`;
}
