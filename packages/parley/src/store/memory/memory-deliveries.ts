import type { StoredPushConfig } from '../push-storage.js';
import {
  type DeliveryHead,
  dueDelivery,
  hasConfigRoom,
  newDeliveryQueue,
  replayedDelivery,
} from '../rules/delivery-queue.js';
import type { WakeupListener } from '../wakeups.js';
import { SortedList } from './sorted-list.js';
import type { TaskEntry } from './task-entry.js';

/** A push configuration of a task with its queue of deliveries. */
export interface ConfigEntry {
  readonly task: TaskEntry;
  config: StoredPushConfig & { readonly id: string };
  /** Grows from one configuration of the storage to the next. */
  readonly order: number;
  head: DeliveryHead;
}

/** The push configurations of all tasks with their queues, and the order in which the queues are due. */
export class MemoryDeliveries {
  readonly #all = new SortedList<ConfigEntry>((a, b) => a.order - b.order);
  readonly #due = new SortedList<ConfigEntry>((a, b) => dueAt(a) - dueAt(b) || a.order - b.order);
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;
  #order = 0;

  constructor(wakeups: Pick<WakeupListener, 'deliveryReady'>) {
    this.#wakeups = wakeups;
  }

  /** True if a task has room for a configuration. */
  hasRoom({ pushConfigs = new Map() }: TaskEntry, id: string, limit: number | undefined): boolean {
    return hasConfigRoom(pushConfigs.has(id), pushConfigs.size, limit);
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
    const log = { floor: task.floor, last: task.seq };
    const head =
      (earlier && replayedDelivery(earlier.head, { ...log, from: undefined }, now)) ??
      newDeliveryQueue(position, task.seq, now);
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

  /** Takes note of records of a task. */
  hasGrown({ pushConfigs, scope }: TaskEntry, now: number): void {
    if (pushConfigs === undefined) return;
    let isDue = false;
    for (const entry of pushConfigs.values()) {
      const head = dueDelivery(entry.head, now);
      if (head === undefined) continue;
      this.set(entry, head);
      isDue = true;
    }
    if (isDue) this.#wakeups.deliveryReady(scope.agent);
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

  /** The queues with pending records that are not parked, in the order of their next attempts. */
  due(): Iterable<ConfigEntry> {
    return this.#due.ascending();
  }

  /** All queues in the order in which their configurations were added. */
  all(): Iterable<ConfigEntry> {
    return this.#all.ascending();
  }

  /** Puts another head in the place of that of a queue. */
  set(entry: ConfigEntry, head: DeliveryHead): void {
    if (entry.head.dueAt !== undefined) this.#due.remove(entry);
    entry.head = head;
    if (head.dueAt !== undefined) this.#due.add(entry);
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

function dueAt({ head }: ConfigEntry): number {
  return head.dueAt ?? Number.POSITIVE_INFINITY;
}
