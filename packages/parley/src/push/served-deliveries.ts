import type { DeliveryKey, DeliveryPage, DeliveryQuery } from '../store/push-storage.js';
import type { TaskStorage } from '../store/task-storage.js';

/** A replay or a purge by code of the operator. */
export interface DeliveryAct {
  readonly operation: 'replayDelivery' | 'purgeDelivery';
  readonly queue: DeliveryKey;
}

/** Runs an act and audits it. Resolves to the result of the act. */
export type RecordedAct = <Result>(act: DeliveryAct, run: () => Promise<Result>) => Promise<Result>;

/** The parts of `ServedDeliveries`. */
interface ServedDeliveriesOptions {
  readonly agent: string;
  readonly storage: TaskStorage;
  /** Absent: acts are not audited. */
  readonly recorded?: RecordedAct | undefined;
}

/** The push deliveries of an agent, for the code of its operator. It sees all tenants and owners. */
export class ServedDeliveries {
  readonly #agent: string;
  readonly #storage: TaskStorage;
  readonly #recorded: RecordedAct;

  constructor({ agent, storage, recorded = (_, run) => run() }: ServedDeliveriesOptions) {
    this.#agent = agent;
    this.#storage = storage;
    this.#recorded = recorded;
  }

  /**
   * A page of queues, default 100. `parked` are the dead letters. Pass `next` of a page as `cursor` to get the next
   * one.
   */
  list(query: Partial<Omit<DeliveryQuery, 'agents'>> = {}): Promise<DeliveryPage> {
    return this.#storage.push.queues({ limit: 100, ...query, agents: [this.#agent] });
  }

  /**
   * Retries a queue at once, also a parked one: from its first pending event, or from the sequence number `from`.
   * `not-kept`: the log no longer has that event, and nothing changes.
   */
  async replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    return this.#recorded({ operation: 'replayDelivery', queue }, async () =>
      queue.key.scope.agent === this.#agent ? this.#storage.push.replay(queue, from) : 'not-found',
    );
  }

  /** Gives up the pending events of a queue. Later events are delivered. False if there is no such queue. */
  async purge(queue: DeliveryKey): Promise<boolean> {
    return this.#recorded(
      { operation: 'purgeDelivery', queue },
      async () => queue.key.scope.agent === this.#agent && this.#storage.push.purge(queue),
    );
  }
}
