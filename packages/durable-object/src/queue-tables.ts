import {
  type ConfigRange,
  type DeliveryClaim,
  type DeliveryHead,
  type DeliveryHeadRow,
  type DeliveryLog,
  type DeliveryPage,
  type DeliveryQuery,
  deliveryHeadOf,
  deliveryQueue,
  deliveryValues,
  type LocalQueues,
  type PlacedPushConfig,
  pageOf,
  type Scope,
  type TaskKey,
} from 'parley-a2a/storage-engine';
import type { ObjectSql, SqlValue } from './object-context.js';
import type { TaskLog } from './task-log.js';
import type { TaskRow } from './task-rows.js';

/** A push configuration with its queue and the log of its task. */
export interface QueueRow extends Scope, DeliveryHeadRow {
  readonly pk: number;
  readonly task: number;
  readonly taskId: string;
  readonly configId: string;
  readonly config: string;
  /** The lowest sequence number in the log of the task. */
  readonly floor: number;
  readonly last: number;
}

const SELECT = `SELECT q.pk, q.task, s.agent, s.tenant, s.owner, t.id AS taskId, q.config_id AS configId, q.config,
  t.floor, t.seq AS last, q.position, q.due, q.attempts, q.http_status AS status, q.parked, q.epoch, q.node,
  q.lease_end AS leaseEnd, q.trace
  FROM push_queue q JOIN task t ON t.pk = q.task JOIN scope s ON s.pk = t.scope`;
const HEAD_COLUMNS = ['position', 'due', 'attempts', 'http_status', 'parked', 'epoch', 'node', 'lease_end', 'trace'];
const PUT = `INSERT INTO push_queue (task, config_id, config, ${HEAD_COLUMNS.join(', ')})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, config_id) DO UPDATE SET config = excluded.config,
  ${HEAD_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}`;
const WRITE = `UPDATE push_queue SET ${HEAD_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE pk = ?`;
const DUE = `${SELECT} WHERE q.due IS NOT NULL AND q.due <= ? AND (q.due, q.pk) > (?, ?)
  AND s.agent IN (SELECT value FROM json_each(?)) ORDER BY q.due, q.pk LIMIT 100`;

/** The tables of push configurations and their queues. */
export class QueueTables implements LocalQueues<TaskRow, QueueRow> {
  readonly #sql: ObjectSql;
  readonly #log: TaskLog;

  constructor(sql: ObjectSql, log: TaskLog) {
    this.#sql = sql;
    this.#log = log;
  }

  find({ pk }: TaskRow, configId: string): QueueRow | undefined {
    return this.#sql.get<QueueRow>(`${SELECT} WHERE q.task = ? AND q.config_id = ?`, pk, configId);
  }

  of({ pk }: TaskRow): readonly QueueRow[] {
    return this.#sql.all<QueueRow>(`${SELECT} WHERE q.task = ? ORDER BY q.pk`, pk);
  }

  config({ config }: QueueRow): PlacedPushConfig {
    return this.#sql.parse(config);
  }

  configs({ pk }: TaskRow, { cursor = '', limit }: ConfigRange): readonly QueueRow[] {
    const range = `${SELECT} WHERE q.task = ? AND q.config_id > ? ORDER BY q.config_id LIMIT ?`;
    return this.#sql.all<QueueRow>(range, pk, cursor, limit);
  }

  put({ pk }: TaskRow, config: PlacedPushConfig, head: DeliveryHead): void {
    this.#sql.run(PUT, pk, config.id, this.#sql.textValue(config), ...deliveryValues(head));
  }

  rewrite({ pk }: QueueRow, config: PlacedPushConfig): void {
    this.#sql.run('UPDATE push_queue SET config = ? WHERE pk = ?', this.#sql.textValue(config), pk);
  }

  remove({ pk }: TaskRow, configId: string): void {
    this.#sql.run('DELETE FROM push_queue WHERE task = ? AND config_id = ?', pk, configId);
  }

  key(queue: QueueRow): TaskKey {
    return keyOf(queue).key;
  }

  head(queue: QueueRow): DeliveryHead {
    return deliveryHeadOf(queue);
  }

  log({ floor, last }: QueueRow): DeliveryLog {
    return { floor, last };
  }

  write({ pk }: QueueRow, head: DeliveryHead): void {
    this.#sql.run(WRITE, ...deliveryValues(head), pk);
  }

  take(
    queue: QueueRow,
    claimed: DeliveryHead,
    maxBytes: number,
  ): { readonly claim: DeliveryClaim; readonly bytes: number } {
    this.write(queue, claimed);
    const { position, attempts, epoch, trace } = claimed;
    const records = this.#log.first(queue.task, position, maxBytes);
    const bytes = records.reduce((sum, { text }) => sum + text.length, 0);
    const config = this.config(queue);
    return { claim: { ...keyOf(queue), epoch, config, position, last: queue.last, attempts, trace, records }, bytes };
  }

  *due(agents: readonly string[], now: number): Generator<QueueRow, void> {
    let after: readonly [due: number, pk: number] = [Number.MIN_SAFE_INTEGER, 0];
    for (;;) {
      const rows = this.#sql.all<QueueRow>(DUE, now, ...after, JSON.stringify(agents));
      const last = rows.at(-1);
      if (last === undefined) return;
      yield* rows;
      after = [last.due ?? 0, last.pk];
    }
  }

  page({ agents, scope, standing, cursor, limit }: DeliveryQuery): DeliveryPage {
    const conditions = ['q.pk > ?'];
    const values: SqlValue[] = [Number(cursor ?? 0)];
    if (agents !== undefined) {
      conditions.push('s.agent IN (SELECT value FROM json_each(?))');
      values.push(JSON.stringify(agents));
    }
    if (scope !== undefined) {
      conditions.push('s.agent = ? AND s.tenant = ? AND s.owner IS ?');
      values.push(scope.agent, scope.tenant, scope.owner);
    }
    if (standing === 'pending') conditions.push('q.due IS NOT NULL');
    if (standing === 'parked') conditions.push('q.parked IS NOT NULL');
    const select = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY q.pk LIMIT ?`;
    const rows = this.#sql.all<QueueRow>(select, ...values, limit + 1);
    const { found: queues, ...rest } = pageOf(rows, {
      limit,
      read: (row) => deliveryQueue(keyOf(row), deliveryHeadOf(row), row.last),
      cursorOf: ({ pk }) => String(pk),
    });
    return { queues, ...rest };
  }
}

function keyOf({ agent, tenant, owner, taskId, configId }: QueueRow) {
  return { key: { scope: { agent, tenant, owner }, id: taskId }, configId };
}
