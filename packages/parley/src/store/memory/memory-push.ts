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
  StoredPushConfig,
} from '../push-storage.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import { type ConfigEntry, type MemoryDeliveries, pushConfigsOf } from './memory-deliveries.js';
import type { MemoryTasks } from './memory-tasks.js';

/** The parts of a storage that its push configurations need. */
export interface MemoryPushOptions {
  readonly lifetime: ClockedLifetime;
  readonly tasks: MemoryTasks;
  readonly deliveries: MemoryDeliveries;
}

/** The push configurations of a storage in memory, with their deliveries. */
export class MemoryPush implements PushStorage {
  readonly #lifetime: ClockedLifetime;
  readonly #tasks: MemoryTasks;
  readonly #deliveries: MemoryDeliveries;

  constructor({ lifetime, tasks, deliveries }: MemoryPushOptions) {
    this.#lifetime = lifetime;
    this.#tasks = tasks;
    this.#deliveries = deliveries;
  }

  async putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    const now = this.#lifetime.now();
    const entry = this.#tasks.find(scope, config.taskId);
    if (entry === undefined) return 'not-found';
    if (!this.#deliveries.hasRoom(entry, config.id, limit)) return 'full';
    this.#deliveries.put(entry, config, { position: entry.seq, now });
    return 'put';
  }

  async config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    this.#lifetime.check();
    return this.#tasks.find(scope, taskId)?.pushConfigs?.get(id)?.config;
  }

  async configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    this.#lifetime.check();
    const entry = this.#tasks.find(scope, taskId);
    return entry && pushConfigsOf(entry, range);
  }

  async deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#lifetime.check();
    const entry = this.#tasks.find(scope, taskId);
    if (entry !== undefined) this.#deliveries.remove(entry, id);
    return entry !== undefined;
  }

  async rewriteConfig(queue: DeliveryKey, change: ConfigChange): Promise<boolean> {
    this.#lifetime.check();
    return this.#deliveries.rewrite(this.#entryOf(queue), change);
  }

  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    return this.#deliveries.claim(request, this.#lifetime.now());
  }

  async settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    return this.#deliveries.settle(this.#entryOf(held), held, { outcome, now: this.#lifetime.now() });
  }

  async queues(query: DeliveryQuery): Promise<DeliveryPage> {
    this.#lifetime.check();
    return this.#deliveries.page(query);
  }

  async replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    return this.#deliveries.replay(this.#entryOf(queue), from, this.#lifetime.now());
  }

  async purge(queue: DeliveryKey): Promise<boolean> {
    return this.#deliveries.purge(this.#entryOf(queue), this.#lifetime.now());
  }

  #entryOf({ key, configId }: DeliveryKey): ConfigEntry | undefined {
    return this.#tasks.get(key)?.pushConfigs?.get(configId);
  }
}
