import { StorageError } from '../../errors/storage-error.js';
import { unreadableReason } from '../../errors/unreadable-task-error.js';
import type { LogRecord } from '../../task/log-record.js';
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
import { checkedRecord } from '../readable-deliveries.js';
import { settledDelivery } from '../rules/decide-delivery.js';
import type { DeliveryHead } from '../rules/delivery-head.js';
import type { KeyHead } from '../rules/key-head.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { WakeupListener } from '../wakeups.js';
import { hasRoomFor } from './accept-message.js';
import { claimQueues, purgeQueue, replayQueue, settleQueue } from './delivery-queues.js';
import { countConfigs, hasConfig, putConfig } from './local-calls.js';
import type { LocalHead, LocalTables } from './local-tables.js';
import type { UnreadableRows } from './unreadable-rows.js';

/** The dependencies of the push configurations. */
interface LocalPushOptions<Head extends LocalHead, Key extends KeyHead, Queue> {
  readonly tables: LocalTables<Head, Key, Queue>;
  readonly lifetime: ClockedLifetime;
  readonly wakeups: Pick<WakeupListener, 'deliveryReady'>;
  readonly unreadable: UnreadableRows;
}

/** Push configurations and their deliveries over synchronous tables. */
export class LocalPush<Head extends LocalHead, Key extends KeyHead, Queue> implements PushStorage {
  readonly #tables: LocalTables<Head, Key, Queue>;
  readonly #lifetime: ClockedLifetime;
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;
  readonly #unreadable: UnreadableRows;

  constructor({ tables, lifetime, wakeups, unreadable }: LocalPushOptions<Head, Key, Queue>) {
    this.#tables = tables;
    this.#lifetime = lifetime;
    this.#wakeups = wakeups;
    this.#unreadable = unreadable;
  }

  async putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    const now = this.#lifetime.now();
    const { tasks, queues } = this.#tables;
    const head = tasks.find({ scope, id: config.taskId });
    if (head === undefined) return 'not-found';
    const counted = { countConfigs: (of: Head, id: string) => countConfigs(queues, of, id) };
    if (!hasRoomFor(counted, head, { id: config.id, limit })) return 'full';
    const isDue = this.#tables.transaction(() => putConfig(queues, { head, config }, { position: head.seq, now }));
    if (isDue) this.#wakeups.deliveryReady(scope.agent);
    return 'put';
  }

  async config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    this.#lifetime.check();
    const key = { scope, id: taskId };
    const queue = this.#queueOf({ key, configId: id });
    return queue && this.#unreadable.required(key, () => this.#tables.queues.config(queue));
  }

  async configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    this.#lifetime.check();
    const head = this.#tables.tasks.find({ scope, id: taskId });
    const { queues } = this.#tables;
    return head && queues.configs(head, range).flatMap((one) => this.#read(head.key, () => queues.config(one)) ?? []);
  }

  async deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#lifetime.check();
    const head = this.#tables.tasks.find({ scope, id: taskId });
    if (head !== undefined) this.#tables.transaction(() => this.#tables.queues.remove(head, id));
    return head !== undefined;
  }

  async rewriteConfig(key: DeliveryKey, { from, to }: ConfigChange): Promise<boolean> {
    this.#lifetime.check();
    const { queues } = this.#tables;
    const queue = this.#queueOf(key);
    if (queue === undefined || !hasConfig(queues, queue, from)) return false;
    this.#tables.transaction(() => queues.rewrite(queue, to));
    return true;
  }

  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    const now = this.#lifetime.now();
    const { queues } = this.#tables;
    return this.#tables.transaction(() =>
      claimQueues(
        {
          head: (queue) => queues.head(queue),
          take: (queue, claimed, left) => this.#take(queue, claimed, { left, now }),
        },
        { due: queues.due(request.agents, now), demand: request },
        now,
      ),
    );
  }

  async settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    const now = this.#lifetime.now();
    const at = { queue: this.#queueOf(held), epoch: held.epoch, outcome };
    const { kind, isReady } = this.#tables.transaction(() => settleQueue(this.#tables.queues, at, now));
    if (isReady) this.#wakeups.deliveryReady(held.key.scope.agent);
    return kind === 'settled';
  }

  async queues(query: DeliveryQuery): Promise<DeliveryPage> {
    this.#lifetime.check();
    return this.#tables.queues.page(query);
  }

  async replay(key: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    const now = this.#lifetime.now();
    const at = { queue: this.#queueOf(key), from };
    const { kind, isReady } = this.#tables.transaction(() => replayQueue(this.#tables.queues, at, now));
    if (isReady) this.#wakeups.deliveryReady(key.key.scope.agent);
    return kind;
  }

  async purge(key: DeliveryKey): Promise<boolean> {
    const now = this.#lifetime.now();
    return this.#tables.transaction(() => purgeQueue(this.#tables.queues, this.#queueOf(key), now));
  }

  #read<R>(key: TaskKey, read: () => R): R | undefined {
    return this.#unreadable.readable(key, read);
  }

  /**
   * Claims a queue with the records before its first unreadable one. Parks the queue if its next record is unreadable.
   */
  #take(queue: Queue, claimed: DeliveryHead, { left, now }: { readonly left: number; readonly now: number }) {
    const { queues } = this.#tables;
    try {
      const taken = queues.take(queue, claimed, left);
      const { key, records } = taken.claim;
      const isReadable = (record: LogRecord) => this.#read(key, () => checkedRecord(record)) !== undefined;
      const broken = records.findIndex((record) => !isReadable(record));
      if (broken < 0) return taken;
      if (broken > 0) return { ...taken, claim: { ...taken.claim, records: records.slice(0, broken) } };
      checkedRecord(records[0] as LogRecord);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      const outcome = { kind: 'park', reason: `it cannot be read: ${unreadableReason(error)}` } as const;
      const at = { epoch: claimed.epoch, outcome };
      const parked = settledDelivery(claimed, at, { last: queues.log(queue).last, now });
      if (parked !== undefined) queues.write(queue, parked);
      this.#unreadable.note(queues.key(queue), error);
    }
    return undefined;
  }

  #queueOf({ key, configId }: DeliveryKey): Queue | undefined {
    const head = this.#tables.tasks.find(key);
    return head && this.#tables.queues.find(head, configId);
  }
}
