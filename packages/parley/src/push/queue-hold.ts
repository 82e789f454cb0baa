import type { Clock } from '../runtime/clock.js';
import type { DeliveryClaim } from '../store/push-storage.js';
import type { TaskStorage } from '../store/task-storage.js';

/** Ports of a hold. Times are in ms; `claimedAt` is of the monotonic clock. */
interface QueueHoldOptions {
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly claimedAt: number;
}

/** Renewals within one lease. */
const BEATS = 3;

/**
 * Renews the lease of a claimed queue while its requests run. So the lease can be short, and the queue of a dead
 * process resumes soon. It is lost when the lease expires, or when another node has claimed the queue.
 */
export class QueueHold {
  readonly #claim: DeliveryClaim;
  readonly #options: QueueHoldOptions;
  #isLost = false;
  #stopBeat = () => {};
  #stopEnd = () => {};
  #isReleased = false;
  /** Aborts the request under way, if any. */
  abort: (() => void) | undefined;

  constructor(claim: DeliveryClaim, options: QueueHoldOptions) {
    this.#claim = claim;
    this.#options = options;
    this.#heldSince(options.claimedAt);
  }

  /** True if no further request of the queue may begin. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Aborts the requests of the queue. */
  lose(): void {
    this.release();
    this.#isLost = true;
    this.abort?.();
  }

  /** Stops the renewal. */
  release(): void {
    this.#isReleased = true;
    this.#stopBeat();
    this.#stopEnd();
  }

  #heldSince(at: number): void {
    const { clock, leaseMs } = this.#options;
    const age = clock.monotonic() - at;
    this.#stopEnd();
    this.#stopEnd = clock.after(Math.max(0, leaseMs - age), () => this.lose());
    this.#stopBeat = clock.after(Math.max(0, leaseMs / BEATS - age), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { storage, clock, leaseMs } = this.#options;
    const sentAt = clock.monotonic();
    const isHeld = await storage.push.settle(this.#claim, { kind: 'held', leaseMs }).catch(() => undefined);
    if (this.#isReleased) return;
    if (isHeld === true) this.#heldSince(sentAt);
    else if (isHeld === false) this.lose();
    else this.#stopBeat = clock.after(leaseMs / BEATS / BEATS, () => void this.#renew());
  }
}
