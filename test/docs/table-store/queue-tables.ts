import {
  type ConfigRange,
  type DeliveryClaim,
  type DeliveryHead,
  type DeliveryLog,
  type DeliveryPage,
  type DeliveryQuery,
  deliveryQueue,
  type LocalQueues,
  type PlacedPushConfig,
  pageOf,
  type TaskKey,
} from 'parley-a2a/storage-engine';
import { isIn, type QueueRow, type Tables, type TaskHead, type TaskRow } from './rows.js';
import type { TaskLog } from './task-log.js';

/** The tables of push configurations and their queues. */
export class QueueTables implements LocalQueues<TaskHead, QueueRow> {
  readonly #tables: Tables;
  readonly #log: TaskLog;
  #order = 0;

  constructor(tables: Tables, log: TaskLog) {
    this.#tables = tables;
    this.#log = log;
  }

  find({ name }: TaskHead, configId: string): QueueRow | undefined {
    return this.#tables.queues.get(JSON.stringify([name, configId]));
  }

  of({ name }: TaskHead): readonly QueueRow[] {
    return this.#tables.queues.filter(({ task }) => task === name);
  }

  config({ config }: QueueRow): PlacedPushConfig {
    return JSON.parse(config) as PlacedPushConfig;
  }

  configs(head: TaskHead, { cursor = '', limit }: ConfigRange): readonly QueueRow[] {
    const behind = this.of(head).filter(({ configId }) => configId > cursor);
    const sorted = behind.sort((a, b) => (a.configId < b.configId ? -1 : 1));
    return sorted.slice(0, limit);
  }

  put({ name: task }: TaskHead, config: PlacedPushConfig, head: DeliveryHead): void {
    const { id: configId } = config;
    const name = JSON.stringify([task, configId]);
    this.#order += 1;
    const order = this.#tables.queues.get(name)?.order ?? this.#order;
    this.#tables.queues.put(name, { name, task, configId, order, config: JSON.stringify(config), head });
  }

  rewrite(queue: QueueRow, config: PlacedPushConfig): void {
    this.#tables.queues.put(queue.name, { ...queue, config: JSON.stringify(config) });
  }

  remove({ name }: TaskHead, configId: string): void {
    this.#tables.queues.delete(JSON.stringify([name, configId]));
  }

  key(queue: QueueRow): TaskKey {
    return this.#taskOf(queue).key;
  }

  head({ name, head }: QueueRow): DeliveryHead {
    return this.#tables.queues.get(name)?.head ?? head;
  }

  log(queue: QueueRow): DeliveryLog {
    const { floor, seq } = this.#taskOf(queue);
    return { floor, last: seq };
  }

  write(queue: QueueRow, head: DeliveryHead): void {
    this.#tables.queues.put(queue.name, { ...queue, head });
  }

  take(queue: QueueRow, claimed: DeliveryHead, maxBytes: number) {
    this.write(queue, claimed);
    const { position, attempts, epoch, trace } = claimed;
    const task = this.#taskOf(queue);
    const records = this.#log.first(task, position, maxBytes);
    const bytes = records.reduce((sum, { text }) => sum + text.length, 0);
    const { key, seq: last } = task;
    const { configId } = queue;
    const claim: DeliveryClaim = {
      key,
      configId,
      epoch,
      config: this.config(queue),
      position,
      last,
      attempts,
      trace,
      records,
    };
    return { claim, bytes };
  }

  due(agents: readonly string[], now: number): Iterable<QueueRow> {
    return this.#tables.queues
      .filter((queue) => (queue.head.dueAt ?? now + 1) <= now && agents.includes(this.#taskOf(queue).key.scope.agent))
      .sort((a, b) => (a.head.dueAt ?? 0) - (b.head.dueAt ?? 0) || a.order - b.order);
  }

  page({ agents, scope, standing, cursor = '0', limit }: DeliveryQuery): DeliveryPage {
    const matches = (queue: QueueRow) => {
      const { key } = this.#taskOf(queue);
      if (agents !== undefined && !agents.includes(key.scope.agent)) return false;
      if (scope !== undefined && !isIn(scope, key.scope)) return false;
      if (standing === 'pending' && queue.head.dueAt === undefined) return false;
      return standing !== 'parked' || queue.head.parked !== undefined;
    };
    const found = this.#tables.queues.filter((queue) => queue.order > Number(cursor) && matches(queue));
    const { found: queues, ...rest } = pageOf(
      found.sort((a, b) => a.order - b.order),
      {
        limit,
        read: (queue) => {
          const { key, seq } = this.#taskOf(queue);
          return deliveryQueue({ key, configId: queue.configId }, queue.head, seq);
        },
        cursorOf: ({ order }) => String(order),
      },
    );
    return { queues, ...rest };
  }

  #taskOf({ task }: QueueRow): TaskRow {
    return this.#tables.tasks.get(task) as TaskRow;
  }
}
