import type { DeliveryKey, DeliveryPage, DeliveryQuery } from '../store/push-deliveries.js';
import type { TaskStorage } from '../store/task-storage.js';

/** The push deliveries of an agent, for the code of its operator. It sees all tenants and owners. */
export class ServedDeliveries {
  readonly #agent: string;
  readonly #storage: TaskStorage;

  constructor({ agent, storage }: { readonly agent: string; readonly storage: TaskStorage }) {
    this.#agent = agent;
    this.#storage = storage;
  }

  /** A page of queues, default 100. `parked` are the dead letters. The `next` of a page is the `cursor` of the rest. */
  list(query: Partial<Omit<DeliveryQuery, 'agents'>> = {}): Promise<DeliveryPage> {
    return this.#storage.deliveries({ limit: 100, ...query, agents: [this.#agent] });
  }

  /**
   * Delivers a queue again at once, also a parked one: from its first pending event, or from the sequence number
   * `from`. `not-kept`: the log no longer has that event; nothing changes.
   */
  async replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    if (queue.key.scope.agent !== this.#agent) return 'not-found';
    return this.#storage.replayDelivery(queue, from);
  }

  /** Gives up the pending events of a queue. Later events are delivered. False if there is no such queue. */
  async purge(queue: DeliveryKey): Promise<boolean> {
    return queue.key.scope.agent === this.#agent && this.#storage.purgeDelivery(queue);
  }
}
