import type { DeliverySender } from '../push/delivery-sender.js';
import type { Logger } from '../telemetry/logger.js';
import type { PushFigures } from '../telemetry/server-figures.js';

/** The code of a sender, and the log for a failure to load it. */
interface HostSenderOptions {
  readonly load: () => Promise<DeliverySender>;
  readonly logger: Logger;
}

const NOTHING_SENT: PushFigures = { delivered: 0, failed: 0, parked: 0, inFlight: 0, oldestWaitMs: 0 };

/**
 * The sender of a host. Its code is loaded after the agents have started, and no request waits for it. Meanwhile the
 * storage keeps the notifications.
 */
export class HostSender {
  readonly #options: HostSenderOptions;
  #starting: Promise<void> | undefined;
  #sender: DeliverySender | undefined;

  constructor(options: HostSenderOptions) {
    this.#options = options;
  }

  /** The figures of this process. */
  get figures(): PushFigures {
    return this.#sender?.figures ?? NOTHING_SENT;
  }

  /** Sends what is due, and from now on what becomes due. */
  start(): void {
    this.#starting ??= this.#start();
  }

  /** Begins no more attempts, and cuts off those that run after the grace. */
  async close(graceMs: number): Promise<void> {
    await this.#starting;
    await this.#sender?.close(graceMs);
  }

  async #start(): Promise<void> {
    const { load, logger } = this.#options;
    try {
      this.#sender = await load();
      this.#sender.start();
    } catch (error) {
      logger.error('push notifications are not sent until the next start: their code cannot be loaded', { error });
    }
  }
}
