import type { LocalQueues } from '../engine/local-tables.js';
import { pageOf } from '../engine/pages.js';
import type {
  ConfigRange,
  DeliveryClaim,
  DeliveryKey,
  DeliveryPage,
  DeliveryQuery,
  PlacedPushConfig,
  StoredPushConfig,
} from '../push-storage.js';
import { type DeliveryHead, type DeliveryLog, deliveryQueue } from '../rules/delivery-head.js';
import { isSameScope, type TaskKey } from '../task-key.js';
import { SortedList } from './sorted-list.js';
import type { TaskEntry } from './task-entry.js';

/** A push configuration of a task with its queue of deliveries. */
export interface ConfigEntry {
  readonly task: TaskEntry;
  config: PlacedPushConfig;
  /** Increases with each new configuration of the storage. */
  readonly order: number;
  head: DeliveryHead;
}

const NONE: readonly ConfigEntry[] = [];

/** The push configurations of all tasks with their queues, and the queues by due time. */
export class MemoryDeliveries implements LocalQueues<TaskEntry, ConfigEntry> {
  readonly #all = new SortedList<ConfigEntry>((a, b) => a.order - b.order);
  readonly #due = new SortedList<ConfigEntry>((a, b) => dueAt(a) - dueAt(b) || a.order - b.order);
  #order = 0;

  find({ pushConfigs }: TaskEntry, id: string): ConfigEntry | undefined {
    return pushConfigs?.get(id);
  }

  of({ pushConfigs }: TaskEntry): readonly ConfigEntry[] {
    return pushConfigs === undefined ? NONE : [...pushConfigs.values()];
  }

  config({ config }: ConfigEntry): StoredPushConfig {
    return config;
  }

  configs({ pushConfigs }: TaskEntry, { cursor, limit }: ConfigRange): readonly ConfigEntry[] {
    return [...(pushConfigs?.values() ?? [])]
      .filter(({ config: { id } }) => cursor === undefined || id > cursor)
      .sort((a, b) => (a.config.id < b.config.id ? -1 : 1))
      .slice(0, limit);
  }

  rewrite(entry: ConfigEntry, config: PlacedPushConfig): void {
    entry.config = config;
  }

  page(query: DeliveryQuery): DeliveryPage {
    const { found: queues, ...rest } = pageOf(this.#listed(query), {
      limit: query.limit,
      read: (entry) => deliveryQueue(keyOf(entry), entry.head, entry.task.seq),
      cursorOf: ({ order }) => String(order),
    });
    return { queues, ...rest };
  }

  put(task: TaskEntry, config: PlacedPushConfig, head: DeliveryHead): void {
    const earlier = task.pushConfigs?.get(config.id);
    if (earlier === undefined) this.#order += 1;
    else this.#forget(earlier);
    const entry: ConfigEntry = { task, config, order: earlier?.order ?? this.#order, head };
    task.pushConfigs ??= new Map();
    task.pushConfigs.set(config.id, entry);
    this.#all.add(entry);
    if (head.dueAt !== undefined) this.#due.add(entry);
  }

  /** Removes a configuration of a task. */
  remove(task: TaskEntry, id: string): void {
    const entry = task.pushConfigs?.get(id);
    if (entry !== undefined) this.#forget(entry);
    task.pushConfigs?.delete(id);
  }

  /** Removes all configurations of a task. */
  removeAll({ pushConfigs }: TaskEntry): void {
    if (pushConfigs === undefined) return;
    for (const entry of pushConfigs.values()) this.#forget(entry);
    pushConfigs.clear();
  }

  /** Count of queues with pending records that are not parked. */
  get pending(): number {
    return this.#due.size;
  }

  /** The earliest due time. */
  get oldestDue(): number | undefined {
    for (const { head } of this.#due.ascending()) return head.dueAt;
    return undefined;
  }

  *due(agents: readonly string[], now: number): Generator<ConfigEntry, void> {
    for (const entry of this.#due.ascending()) {
      if (dueAt(entry) > now) return;
      if (agents.includes(entry.task.scope.agent)) yield entry;
    }
  }

  key({ task }: ConfigEntry): TaskKey {
    return task.key;
  }

  head(entry: ConfigEntry): DeliveryHead {
    return entry.head;
  }

  log({ task: { floor, seq } }: ConfigEntry): DeliveryLog {
    return { floor, last: seq };
  }

  write(entry: ConfigEntry, head: DeliveryHead): void {
    const isMoved = entry.head.dueAt !== head.dueAt;
    if (isMoved && entry.head.dueAt !== undefined) this.#due.remove(entry);
    entry.head = head;
    if (isMoved && head.dueAt !== undefined) this.#due.add(entry);
  }

  take(
    entry: ConfigEntry,
    claimed: DeliveryHead,
    maxBytes: number,
  ): { readonly claim: DeliveryClaim; readonly bytes: number } {
    this.write(entry, claimed);
    const { config, task } = entry;
    const { position, attempts, epoch, trace } = claimed;
    const records = task.firstRecords(position, maxBytes);
    const bytes = records.reduce((sum, { text }) => sum + text.length, 0);
    return { claim: { ...keyOf(entry), epoch, config, position, last: task.seq, attempts, trace, records }, bytes };
  }

  *#listed({ agents, scope, standing, cursor }: DeliveryQuery): Generator<ConfigEntry, void> {
    const after = Number(cursor ?? 0);
    for (const entry of this.#all.ascending()) {
      if (entry.order <= after) continue;
      if (agents !== undefined && !agents.includes(entry.task.scope.agent)) continue;
      if (scope !== undefined && !isSameScope(scope, entry.task.scope)) continue;
      if (standing === 'pending' && entry.head.dueAt === undefined) continue;
      if (standing === 'parked' && entry.head.parked === undefined) continue;
      yield entry;
    }
  }

  #forget(entry: ConfigEntry): void {
    this.#all.remove(entry);
    if (entry.head.dueAt !== undefined) this.#due.remove(entry);
  }
}

/** True if a pending delivery needs the log of a task. */
export function hasPendingDelivery({ pushConfigs }: TaskEntry): boolean {
  if (pushConfigs === undefined) return false;
  for (const { head } of pushConfigs.values()) if (head.dueAt !== undefined) return true;
  return false;
}

function keyOf({ task, config }: ConfigEntry): DeliveryKey {
  return { key: { scope: task.scope, id: task.id }, configId: config.id };
}

function dueAt({ head }: ConfigEntry): number {
  return head.dueAt ?? Number.POSITIVE_INFINITY;
}
