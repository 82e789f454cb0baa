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
import type { KeyHead } from '../rules/key-head.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope } from '../task-key.js';
import type { WakeupListener } from '../wakeups.js';
import { hasRoomFor } from './accept-message.js';
import { claimQueues, purgeQueue, replayQueue, settleQueue } from './delivery-queues.js';
import { countConfigs, putConfig } from './local-calls.js';
import type { LocalHead, LocalTables } from './local-tables.js';

/** The parts of a storage that its push configurations need. */
export interface LocalPushOptions<Head extends LocalHead, Key extends KeyHead, Queue> {
  readonly tables: LocalTables<Head, Key, Queue>;
  readonly lifetime: ClockedLifetime;
  readonly wakeups: Pick<WakeupListener, 'deliveryReady'>;
}

/** Push configurations and their deliveries over tables whose calls are done at once. */
export class LocalPush<Head extends LocalHead, Key extends KeyHead, Queue> implements PushStorage {
  readonly #tables: LocalTables<Head, Key, Queue>;
  readonly #lifetime: ClockedLifetime;
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;

  constructor({ tables, lifetime, wakeups }: LocalPushOptions<Head, Key, Queue>) {
    this.#tables = tables;
    this.#lifetime = lifetime;
    this.#wakeups = wakeups;
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
    const queue = this.#queueOf({ key: { scope, id: taskId }, configId: id });
    return queue === undefined ? undefined : this.#tables.queues.config(queue);
  }

  async configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    this.#lifetime.check();
    const head = this.#tables.tasks.find({ scope, id: taskId });
    return head && this.#tables.queues.configs(head, range);
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
    if (queue === undefined || JSON.stringify(queues.config(queue)) !== JSON.stringify(from)) return false;
    this.#tables.transaction(() => queues.rewrite(queue, to));
    return true;
  }

  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    const now = this.#lifetime.now();
    const { queues } = this.#tables;
    return this.#tables.transaction(() =>
      claimQueues(queues, { due: queues.due(request.agents, now), demand: request }, now),
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

  #queueOf({ key, configId }: DeliveryKey): Queue | undefined {
    const head = this.#tables.tasks.find(key);
    return head && this.#tables.queues.find(head, configId);
  }
}
