import type { ErrorCode } from '../errors/a2a-error.js';
import type { DeliveryKey, DeliveryPage, DeliveryQuery } from '../store/push-deliveries.js';
import type { TaskStorage } from '../store/task-storage.js';

const REPLAY_CODES = { replayed: 'OK', 'not-found': 'TASK_NOT_FOUND', 'not-kept': 'INVALID_PARAMS' } as const;
const PURGE_CODES = { purged: 'OK', 'not-found': 'TASK_NOT_FOUND' } as const;

/** A replay or a purge by the code of the operator. */
export interface DeliveryAct {
  readonly operation: 'replayDelivery' | 'purgeDelivery';
  readonly queue: DeliveryKey;
  /** `OK`, or the code of the refusal or of the failure. */
  readonly code: ErrorCode | 'OK';
}

/** The parts of `ServedDeliveries`. */
export interface ServedDeliveriesOptions {
  readonly agent: string;
  readonly storage: TaskStorage;
  /** Gets each act. If it rejects, the caller of the act hears of it. */
  readonly acted?: ((act: DeliveryAct) => Promise<void>) | undefined;
}

/** The push deliveries of an agent, for the code of its operator. It sees all tenants and owners. */
export class ServedDeliveries {
  readonly #agent: string;
  readonly #storage: TaskStorage;
  readonly #acted: ServedDeliveriesOptions['acted'];

  constructor({ agent, storage, acted }: ServedDeliveriesOptions) {
    this.#agent = agent;
    this.#storage = storage;
    this.#acted = acted;
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
    return this.#told({ operation: 'replayDelivery', queue }, REPLAY_CODES, async () =>
      this.#isOwn(queue) ? this.#storage.replayDelivery(queue, from) : 'not-found',
    );
  }

  /** Gives up the pending events of a queue. Later events are delivered. False if there is no such queue. */
  async purge(queue: DeliveryKey): Promise<boolean> {
    const result = await this.#told({ operation: 'purgeDelivery', queue }, PURGE_CODES, async () =>
      this.#isOwn(queue) && (await this.#storage.purgeDelivery(queue)) ? 'purged' : 'not-found',
    );
    return result === 'purged';
  }

  #isOwn({ key }: DeliveryKey): boolean {
    return key.scope.agent === this.#agent;
  }

  /** Tells of an act after it, also of one that failed. */
  async #told<Result extends string>(
    act: Omit<DeliveryAct, 'code'>,
    codes: Readonly<Record<Result, DeliveryAct['code']>>,
    run: () => Promise<Result>,
  ): Promise<Result> {
    let result: Result;
    try {
      result = await run();
    } catch (error) {
      await this.#acted?.({ ...act, code: 'UNAVAILABLE' });
      throw error;
    }
    await this.#acted?.({ ...act, code: codes[result] });
    return result;
  }
}
