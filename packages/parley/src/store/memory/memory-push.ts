import { hasRoomFor } from '../engine/accept-message.js';
import { claimQueues, purgeQueue, replayQueue, settleQueue } from '../engine/delivery-queues.js';
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
  DeliveryQueue,
  HeldDelivery,
  PlacedPushConfig,
  PushStorage,
  StoredPushConfig,
} from '../push-storage.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import { isSameScope, type Scope } from '../task-key.js';
import type { WakeupListener } from '../wakeups.js';
import { type ConfigEntry, keyOf, type MemoryDeliveries } from './memory-deliveries.js';
import type { MemoryTables } from './memory-tables.js';
import type { MemoryTasks } from './memory-tasks.js';
import type { TaskEntry } from './task-entry.js';

/** The parts of a storage that its push configurations need. */
export interface MemoryPushOptions {
  readonly lifetime: ClockedLifetime;
  readonly tasks: MemoryTasks;
  readonly deliveries: MemoryDeliveries;
  readonly tables: MemoryTables;
  readonly wakeups: Pick<WakeupListener, 'deliveryReady'>;
}

/** The push configurations of a storage in memory, with their deliveries. */
export class MemoryPush implements PushStorage {
  readonly #lifetime: ClockedLifetime;
  readonly #tasks: MemoryTasks;
  readonly #deliveries: MemoryDeliveries;
  readonly #tables: MemoryTables;
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;

  constructor({ lifetime, tasks, deliveries, tables, wakeups }: MemoryPushOptions) {
    this.#lifetime = lifetime;
    this.#tasks = tasks;
    this.#deliveries = deliveries;
    this.#tables = tables;
    this.#wakeups = wakeups;
  }

  async putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    const now = this.#lifetime.now();
    const entry = this.#tasks.find(scope, config.taskId);
    if (entry === undefined) return 'not-found';
    if (!hasRoomFor(this.#tables, entry, { id: config.id, limit })) return 'full';
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
    return entry && configsIn(entry, range);
  }

  async deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#lifetime.check();
    const entry = this.#tasks.find(scope, taskId);
    if (entry !== undefined) this.#deliveries.remove(entry, id);
    return entry !== undefined;
  }

  async rewriteConfig(queue: DeliveryKey, { from, to }: ConfigChange): Promise<boolean> {
    this.#lifetime.check();
    const entry = this.#entryOf(queue);
    const isSame = JSON.stringify(entry?.config) === JSON.stringify(from);
    if (entry && isSame) entry.config = to;
    return isSame;
  }

  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    const now = this.#lifetime.now();
    const due = this.#deliveries.due(request.agents, now);
    return claimQueues(this.#deliveries, { due, demand: request }, now);
  }

  async settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    const now = this.#lifetime.now();
    const queue = this.#entryOf(held);
    const { kind, isReady } = settleQueue(this.#deliveries, { queue, epoch: held.epoch, outcome }, now);
    if (isReady) this.#wakeups.deliveryReady(held.key.scope.agent);
    return kind === 'settled';
  }

  async queues({ agents, scope, standing, cursor, limit }: DeliveryQuery): Promise<DeliveryPage> {
    this.#lifetime.check();
    const queues: DeliveryQueue[] = [];
    const after = Number(cursor ?? 0);
    let last = 0;
    for (const entry of this.#deliveries.all()) {
      if (entry.order <= after) continue;
      if (agents !== undefined && !agents.includes(entry.task.scope.agent)) continue;
      if (scope !== undefined && !isSameScope(scope, entry.task.scope)) continue;
      if (standing === 'pending' && entry.head.dueAt === undefined) continue;
      if (standing === 'parked' && entry.head.parked === undefined) continue;
      if (queues.length >= limit) return { queues, next: String(last) };
      last = entry.order;
      queues.push(queueOf(entry));
    }
    return { queues };
  }

  async replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    const now = this.#lifetime.now();
    const { kind, isReady } = replayQueue(this.#deliveries, { queue: this.#entryOf(queue), from }, now);
    if (isReady) this.#wakeups.deliveryReady(queue.key.scope.agent);
    return kind;
  }

  async purge(queue: DeliveryKey): Promise<boolean> {
    return purgeQueue(this.#deliveries, this.#entryOf(queue), this.#lifetime.now());
  }

  #entryOf({ key, configId }: DeliveryKey): ConfigEntry | undefined {
    return this.#tasks.get(key)?.pushConfigs?.get(configId);
  }
}

function configsIn({ pushConfigs }: TaskEntry, { cursor, limit }: ConfigRange): readonly StoredPushConfig[] {
  return [...(pushConfigs?.values() ?? [])]
    .map(({ config }) => config)
    .filter(({ id }) => cursor === undefined || id > cursor)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

function queueOf(entry: ConfigEntry): DeliveryQueue {
  const { position, attempts, dueAt, lastStatus, parked } = entry.head;
  return {
    ...keyOf(entry),
    position,
    last: entry.task.seq,
    attempts,
    ...(dueAt !== undefined && { dueAt }),
    ...(lastStatus !== undefined && { lastStatus }),
    ...(parked !== undefined && { parked }),
  };
}
