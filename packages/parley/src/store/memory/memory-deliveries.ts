import type {
  ConfigChange,
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
  StoredPushConfig,
} from '../push-storage.js';
import {
  claimedDelivery,
  type DeliveryHead,
  dueDelivery,
  hasConfigRoom,
  isDeliveryClaimable,
  newDeliveryQueue,
  purgedDelivery,
  replayedDelivery,
  settledDelivery,
} from '../rules/delivery-queue.js';
import { isSameScope } from '../task-key.js';
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

/** The push configurations of all tasks, and the queues that are due. */
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
      this.#set(entry, head);
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
    for (const entry of this.#due.ascending()) return dueAt(entry);
    return undefined;
  }

  claim(request: DeliveryClaimRequest, now: number): DeliveryClaims {
    const { agents, limit, maxBytes } = request;
    const claims: DeliveryClaim[] = [];
    let left = maxBytes;
    for (const entry of this.#due.ascending()) {
      if (dueAt(entry) > now) break;
      const { task } = entry;
      if (!agents.includes(task.scope.agent) || !isDeliveryClaimable(entry.head, now)) continue;
      if (claims.length >= limit || (claims.length > 0 && left <= 0)) return { claims, more: true };
      const { floor, content } = task;
      const records = firstBytes(content.records(Math.max(0, entry.head.position + 1 - floor)), left);
      for (const { text } of records) left -= text.length;
      // The place of the queue stays: a claim does not change when it is due.
      entry.head = claimedDelivery(entry.head, request, now);
      const { position, attempts, epoch } = entry.head;
      claims.push({ ...keyOf(entry), epoch, config: entry.config, position, last: task.seq, attempts, records });
    }
    return { claims, more: false };
  }

  settle(
    entry: ConfigEntry | undefined,
    { epoch }: HeldDelivery,
    { outcome, now }: { readonly outcome: DeliveryOutcome; readonly now: number },
  ): boolean {
    const head = entry && settledDelivery(entry.head, { epoch, outcome }, { last: entry.task.seq, now });
    if (entry === undefined || head === undefined) return false;
    this.#set(entry, head);
    if (isDeliveryClaimable(head, now)) this.#wakeups.deliveryReady(entry.task.scope.agent);
    return true;
  }

  page({ agents, scope, standing, cursor, limit }: DeliveryQuery): DeliveryPage {
    const queues: DeliveryQueue[] = [];
    const after = Number(cursor ?? 0);
    let last = 0;
    for (const entry of this.#all.ascending()) {
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

  replay(entry: ConfigEntry | undefined, from: number | undefined, now: number): 'replayed' | 'not-found' | 'not-kept' {
    if (entry === undefined) return 'not-found';
    const { floor, seq } = entry.task;
    const head = replayedDelivery(entry.head, { from, floor, last: seq }, now);
    if (head === undefined) return 'not-kept';
    this.#set(entry, head);
    if (head.dueAt !== undefined) this.#wakeups.deliveryReady(entry.task.scope.agent);
    return 'replayed';
  }

  rewrite(entry: ConfigEntry | undefined, { from, to }: ConfigChange): boolean {
    const isSame = JSON.stringify(entry?.config) === JSON.stringify(from);
    if (entry && isSame) entry.config = to;
    return isSame;
  }

  purge(entry: ConfigEntry | undefined, now: number): boolean {
    if (entry !== undefined) this.#set(entry, purgedDelivery(entry.head, entry.task.seq, now));
    return entry !== undefined;
  }

  #set(entry: ConfigEntry, head: DeliveryHead): void {
    if (entry.head.dueAt !== undefined) this.#due.remove(entry);
    entry.head = head;
    if (head.dueAt !== undefined) this.#due.add(entry);
  }

  #forget(entry: ConfigEntry): void {
    this.#all.remove(entry);
    if (entry.head.dueAt !== undefined) this.#due.remove(entry);
  }
}

/** A page of the push configurations of a task in order of their ids. */
export function pushConfigsOf({ pushConfigs }: TaskEntry, { cursor, limit }: ConfigRange): readonly StoredPushConfig[] {
  return [...(pushConfigs?.values() ?? [])]
    .map(({ config }) => config)
    .filter(({ id }) => cursor === undefined || id > cursor)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
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
