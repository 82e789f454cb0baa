import { type DueTables, makeDue, type QueueTables, queueOfConfig } from '../engine/delivery-queues.js';
import type { DeliveryClaim, DeliveryKey, StoredPushConfig } from '../push-storage.js';
import type { DeliveryHead, DeliveryLog } from '../rules/delivery-head.js';
import type { WakeupListener } from '../wakeups.js';
import { SortedList } from './sorted-list.js';
import { firstBytes, type TaskEntry } from './task-entry.js';

/** A push configuration of a task with its queue of deliveries. */
export interface ConfigEntry {
  readonly task: TaskEntry;
  config: StoredPushConfig & { readonly id: string };
  /** Grows from one configuration of the storage to the next. */
  readonly order: number;
  head: DeliveryHead;
}

/** The push configurations of all tasks with their queues, and the order in which the queues are due. */
export class MemoryDeliveries implements QueueTables<ConfigEntry>, DueTables<ConfigEntry, DeliveryClaim> {
  readonly #all = new SortedList<ConfigEntry>((a, b) => a.order - b.order);
  readonly #due = new SortedList<ConfigEntry>((a, b) => dueAt(a) - dueAt(b) || a.order - b.order);
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;
  #order = 0;

  constructor(wakeups: Pick<WakeupListener, 'deliveryReady'>) {
    this.#wakeups = wakeups;
  }

  /** Adds or replaces a configuration. A new queue begins behind `position`. */
  put(
    task: TaskEntry,
    config: StoredPushConfig & { readonly id: string },
    { position, now }: { readonly position: number; readonly now: number },
  ): void {
    const earlier = task.pushConfigs?.get(config.id);
    if (JSON.stringify(earlier?.config) === JSON.stringify(config)) return;
    if (earlier === undefined) this.#order += 1;
    const head = queueOfConfig(earlier?.head, { position, last: task.seq, now });
    const entry: ConfigEntry = { task, config, order: earlier?.order ?? this.#order, head };
    if (earlier !== undefined) this.#forget(earlier);
    task.pushConfigs ??= new Map();
    task.pushConfigs.set(config.id, entry);
    this.#all.add(entry);
    if (head.dueAt === undefined) return;
    this.#due.add(entry);
    this.#wakeups.deliveryReady(task.scope.agent);
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

  /** Takes note of records of a task. True if a queue became due. */
  hasGrown({ pushConfigs }: TaskEntry, now: number): boolean {
    return pushConfigs !== undefined && makeDue(this, pushConfigs.values(), now);
  }

  /** Count of queues with pending records that are not parked. */
  get pending(): number {
    return this.#due.size;
  }

  /** The earliest time of an attempt. */
  get oldestDue(): number | undefined {
    for (const { head } of this.#due.ascending()) return head.dueAt;
    return undefined;
  }

  /** The queues of these agents that are due, in the order of their attempts. */
  *due(agents: readonly string[], now: number): Generator<ConfigEntry, void> {
    for (const entry of this.#due.ascending()) {
      if (dueAt(entry) > now) return;
      if (agents.includes(entry.task.scope.agent)) yield entry;
    }
  }

  /** All queues in the order in which their configurations were added. */
  all(): Iterable<ConfigEntry> {
    return this.#all.ascending();
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
    const { position, attempts, epoch } = claimed;
    const records = firstBytes(task.content.records(Math.max(0, position + 1 - task.floor)), maxBytes);
    const bytes = records.reduce((sum, { text }) => sum + text.length, 0);
    return { claim: { ...keyOf(entry), epoch, config, position, last: task.seq, attempts, records }, bytes };
  }

  #forget(entry: ConfigEntry): void {
    this.#all.remove(entry);
    if (entry.head.dueAt !== undefined) this.#due.remove(entry);
  }
}

/** True if a delivery needs the log of a task. */
export function hasPendingDelivery({ pushConfigs }: TaskEntry): boolean {
  if (pushConfigs === undefined) return false;
  for (const { head } of pushConfigs.values()) if (head.dueAt !== undefined) return true;
  return false;
}

/** The key of a queue. */
export function keyOf({ task, config }: ConfigEntry): DeliveryKey {
  return { key: { scope: task.scope, id: task.id }, configId: config.id };
}

function dueAt({ head }: ConfigEntry): number {
  return head.dueAt ?? Number.POSITIVE_INFINITY;
}
