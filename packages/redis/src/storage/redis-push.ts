import type {
  ConfigChange,
  ConfigPut,
  ConfigRange,
  DeliveryClaimRequest,
  DeliveryClaims,
  DeliveryKey,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  HeldDelivery,
  PlacedPushConfig,
  PushStorage,
  Scope,
  SharedTasks,
  StoredPushConfig,
} from 'parley-a2a/storage-engine';
import type { OpenCalls } from './open-calls.js';
import type { ReadyWork } from './ready-work.js';
import type { Changed, RedisDeliveries } from './redis-deliveries.js';
import type { RedisHead } from './task-texts.js';

/** The dependencies of the push configurations. */
interface RedisPushOptions {
  readonly open: OpenCalls;
  readonly tasks: SharedTasks<RedisHead>;
  readonly deliveries: RedisDeliveries;
  readonly ready: ReadyWork;
}

/** The push configurations in Redis, with their deliveries. A change that makes a queue due sends a wake-up. */
export class RedisPush implements PushStorage {
  readonly #open: OpenCalls;
  readonly #tasks: SharedTasks<RedisHead>;
  readonly #deliveries: RedisDeliveries;
  readonly #ready: ReadyWork;

  constructor({ open, tasks, deliveries, ready }: RedisPushOptions) {
    this.#open = open;
    this.#tasks = tasks;
    this.#deliveries = deliveries;
    this.#ready = ready;
  }

  putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    return this.#open.run(async () => {
      const { result, isDue } = await this.#tasks.putConfig({ scope, id: config.taskId }, config, limit);
      if (isDue) this.#ready.deliveryReady(scope);
      return result;
    });
  }

  config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    return this.#open.run(() => this.#deliveries.config({ scope, id: taskId }, id));
  }

  configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    return this.#open.run(() => this.#deliveries.configs({ scope, id: taskId }, range));
  }

  deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    return this.#open.run(() => this.#deliveries.remove({ scope, id: taskId }, id));
  }

  rewriteConfig({ key }: DeliveryKey, change: ConfigChange): Promise<boolean> {
    return this.#open.run(() => this.#deliveries.rewrite(key, change));
  }

  claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    return this.#open.run(() => this.#deliveries.claim(request));
  }

  settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    return this.#open.run(() => this.#changed(held, this.#deliveries.settle(held, outcome)));
  }

  queues(query: DeliveryQuery): Promise<DeliveryPage> {
    return this.#open.run(() => this.#deliveries.page(query));
  }

  replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    return this.#open.run(() => this.#changed(queue, this.#deliveries.replay(queue, from)));
  }

  purge(queue: DeliveryKey): Promise<boolean> {
    return this.#open.run(() => this.#changed(queue, this.#deliveries.purge(queue)));
  }

  async #changed<R>({ key }: DeliveryKey, changed: Promise<Changed<R>>): Promise<R> {
    const { outcome, isReady } = await changed;
    if (isReady) this.#ready.deliveryReady(key.scope);
    return outcome;
  }
}
