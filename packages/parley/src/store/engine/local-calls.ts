import { StorageError } from '../../errors/storage-error.js';
import type { PlacedPushConfig } from '../push-storage.js';
import type { KeyHead } from '../rules/key-head.js';
import type { AcceptedTurn, AppendedHead } from '../rules/task-head.js';
import type { Acceptance, Append } from '../task-storage.js';
import type { ConfigCount, MessageTables } from './accept-message.js';
import type { RecordTables } from './append-records.js';
import { makeDue, queueOfConfig } from './delivery-queues.js';
import type { LocalHead, LocalQueues, LocalTables } from './local-tables.js';

/** Calls that write to several tables: messages with their keys and configurations, records with their queues. */
export class LocalCalls<Head extends LocalHead, Key extends KeyHead, Queue>
  implements MessageTables<Head, Key, Acceptance>, RecordTables<Head, Append>
{
  readonly #tables: LocalTables<Head, Key, Queue>;

  constructor(tables: LocalTables<Head, Key, Queue>) {
    this.#tables = tables;
  }

  sameTurn(head: Head, { message, caller }: Acceptance): number | undefined {
    const text = JSON.stringify([message, caller]);
    return head.queue.findLast(({ turn }) => {
      const queued = this.#tables.tasks.turn(head, turn);
      return queued !== undefined && JSON.stringify([queued.message, queued.caller]) === text;
    })?.turn;
  }

  key({ scope, idempotency }: Acceptance): Key | undefined {
    return idempotency && this.#tables.keys.find(scope, idempotency.key);
  }

  countConfigs(head: Head, id: string): ConfigCount {
    return countConfigs(this.#tables.queues, head, id);
  }

  create(call: Acceptance, turn: AcceptedTurn, now: number): Head {
    const { scope, task } = call;
    if (!('create' in task)) throw new StorageError('A message without a new task begins none');
    const head = this.#tables.tasks.insert(scope, task.create, now);
    this.#tables.tasks.addTurn(head, turn, call, now);
    return head;
  }

  addTurn(head: Head, turn: AcceptedTurn, call: Acceptance, now: number): void {
    this.#tables.tasks.addTurn(head, turn, call, now);
  }

  putConfig(head: Head, { pushConfig }: Acceptance, at: { readonly position: number; readonly now: number }): void {
    if (pushConfig === undefined) return;
    const { id } = head.key;
    putConfig(this.#tables.queues, { head, config: { ...pushConfig, id: pushConfig.id ?? id, taskId: id } }, at);
  }

  putKey(
    { scope, task, idempotency }: Acceptance,
    { turn, now, before }: { readonly turn: number; readonly now: number; readonly before: Key | undefined },
  ): void {
    if (idempotency === undefined) return;
    const taskId = 'create' in task ? task.create.id : task.id;
    this.#tables.keys.put(scope, idempotency, { outcome: { taskId, turn }, now, before });
  }

  endsWith(head: Head, { after, records }: Append): boolean {
    const kept = this.#tables.tasks.records(head, after, Number.POSITIVE_INFINITY);
    return kept.floor <= after + 1 && records.every((record, at) => record.text === kept.records[at]?.text);
  }

  append(head: Head, appended: AppendedHead, append: Append, now: number): boolean {
    const { tasks, queues } = this.#tables;
    const { writer } = appended;
    if (writer !== undefined && append.checkpoint !== undefined) tasks.saveCheckpoint(head, writer, append.checkpoint);
    tasks.append(head, appended, append, now);
    return append.records.length > 0 && makeDue(queues, queues.of(head), now);
  }
}

/** Counts the configurations of a task, and checks whether one has this id. */
export function countConfigs<Head, Queue>(queues: LocalQueues<Head, Queue>, head: Head, id: string): ConfigCount {
  return { count: queues.of(head).length, isKnown: queues.find(head, id) !== undefined };
}

/** True if a queue has this configuration. An unreadable configuration never matches. */
export function hasConfig<Queue>(
  queues: Pick<LocalQueues<never, Queue>, 'config'>,
  queue: Queue,
  config: PlacedPushConfig,
): boolean {
  try {
    return JSON.stringify(queues.config(queue)) === JSON.stringify(config);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    return false;
  }
}

/** Inserts or replaces a configuration. A new queue begins after `position`. Returns true if the queue became due. */
export function putConfig<Head extends LocalHead, Queue>(
  queues: LocalQueues<Head, Queue>,
  { head, config }: { readonly head: Head; readonly config: PlacedPushConfig },
  { position, now }: { readonly position: number; readonly now: number },
): boolean {
  const earlier = queues.find(head, config.id);
  if (earlier !== undefined && hasConfig(queues, earlier, config)) return false;
  const queue = queueOfConfig(earlier && queues.head(earlier), { position, last: head.seq, now });
  queues.put(head, config, queue);
  return queue.dueAt !== undefined;
}
