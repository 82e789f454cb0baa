import type {
  ConfigChange,
  ConfigPut,
  ConfigRange,
  DeliveryClaim,
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
import {
  claimedDelivery,
  isDeliveryClaimable,
  purgedDelivery,
  replayedDelivery,
  settledDelivery,
} from '../rules/delivery-queue.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import { isSameScope, type Scope } from '../task-key.js';
import type { WakeupListener } from '../wakeups.js';
import type { ConfigEntry, MemoryDeliveries } from './memory-deliveries.js';
import type { MemoryTasks } from './memory-tasks.js';
import { firstBytes, type TaskEntry } from './task-entry.js';

/** The parts of a storage that its push configurations need. */
export interface MemoryPushOptions {
  readonly lifetime: ClockedLifetime;
  readonly tasks: MemoryTasks;
  readonly deliveries: MemoryDeliveries;
  readonly wakeups: Pick<WakeupListener, 'deliveryReady'>;
}

/** The push configurations of a storage in memory, with their deliveries. */
export class MemoryPush implements PushStorage {
  readonly #lifetime: ClockedLifetime;
  readonly #tasks: MemoryTasks;
  readonly #deliveries: MemoryDeliveries;
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;

  constructor({ lifetime, tasks, deliveries, wakeups }: MemoryPushOptions) {
    this.#lifetime = lifetime;
    this.#tasks = tasks;
    this.#deliveries = deliveries;
    this.#wakeups = wakeups;
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
    const { agents, limit, maxBytes } = request;
    const claims: DeliveryClaim[] = [];
    let left = maxBytes;
    for (const entry of this.#deliveries.due()) {
      const { task, head } = entry;
      if (head.dueAt === undefined || head.dueAt > now) break;
      if (!agents.includes(task.scope.agent) || !isDeliveryClaimable(head, now)) continue;
      if (claims.length >= limit || (claims.length > 0 && left <= 0)) return { claims, more: true };
      const { floor, content } = task;
      const records = firstBytes(content.records(Math.max(0, head.position + 1 - floor)), left);
      for (const { text } of records) left -= text.length;
      // The place of the queue stays: a claim does not change when it is due.
      entry.head = claimedDelivery(head, request, now);
      const { position, attempts, epoch } = entry.head;
      claims.push({ ...keyOf(entry), epoch, config: entry.config, position, last: task.seq, attempts, records });
    }
    return { claims, more: false };
  }

  async settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    const now = this.#lifetime.now();
    const entry = this.#entryOf(held);
    const head = entry && settledDelivery(entry.head, { epoch: held.epoch, outcome }, { last: entry.task.seq, now });
    if (entry === undefined || head === undefined) return false;
    this.#deliveries.set(entry, head);
    if (isDeliveryClaimable(head, now)) this.#wakeups.deliveryReady(entry.task.scope.agent);
    return true;
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
    const entry = this.#entryOf(queue);
    if (entry === undefined) return 'not-found';
    const { floor, seq, scope } = entry.task;
    const head = replayedDelivery(entry.head, { from, floor, last: seq }, now);
    if (head === undefined) return 'not-kept';
    this.#deliveries.set(entry, head);
    if (head.dueAt !== undefined) this.#wakeups.deliveryReady(scope.agent);
    return 'replayed';
  }

  async purge(queue: DeliveryKey): Promise<boolean> {
    const now = this.#lifetime.now();
    const entry = this.#entryOf(queue);
    if (entry !== undefined) this.#deliveries.set(entry, purgedDelivery(entry.head, entry.task.seq, now));
    return entry !== undefined;
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

function keyOf({ task, config }: ConfigEntry): DeliveryKey {
  return { key: { scope: task.scope, id: task.id }, configId: config.id };
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
