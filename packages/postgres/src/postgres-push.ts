import {
  type ConfigChange,
  type ConfigPut,
  type ConfigRange,
  type DeliveryClaimRequest,
  type DeliveryClaims,
  type DeliveryKey,
  type DeliveryOutcome,
  type DeliveryPage,
  type DeliveryQuery,
  type HeldDelivery,
  type PlacedPushConfig,
  type PushStorage,
  readableDeliveries,
  type Scope,
  type StorageLifetime,
  type StoredPushConfig,
  type WakeupListener,
} from 'parley-a2a/storage-engine';
import { claimDeliveries } from './claim-deliveries.js';
import { deletePushConfig, putPushConfig, readPushConfigs, rewriteConfig } from './push-configs.js';
import type { ReadSources } from './read-tasks.js';
import { listDeliveries, purgeDelivery, replayDelivery, settleDelivered, settleDelivery } from './settle-deliveries.js';
import type { StoredScopes } from './stored-names.js';
import type { PostgresTables } from './tables.js';

/** The dependencies of the push configurations. */
interface PostgresPushOptions {
  readonly lifetime: StorageLifetime;
  readonly tables: PostgresTables;
  readonly sources: ReadSources;
  readonly wakeups: Pick<WakeupListener, 'deliveryReady'>;
}

/** The push configurations in a database, with their deliveries. */
export class PostgresPush implements PushStorage {
  readonly #lifetime: StorageLifetime;
  readonly #tables: PostgresTables;
  readonly #scopes: StoredScopes;
  readonly #sources: ReadSources;
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;

  constructor({ lifetime, tables, sources, wakeups }: PostgresPushOptions) {
    this.#lifetime = lifetime;
    this.#tables = tables;
    this.#scopes = sources.scopes;
    this.#sources = sources;
    this.#wakeups = wakeups;
  }

  async putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    this.#lifetime.check();
    const stored = this.#scopes.of(scope);
    const result = await this.#tables.transaction((tables) => putPushConfig(tables, stored, { config, limit }));
    if (result === 'put') this.#wakeups.deliveryReady(scope.agent);
    return result;
  }

  async config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    this.#lifetime.check();
    return (await readPushConfigs(this.#sources, { scope, taskId, id, limit: 1 }))?.[0];
  }

  async configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    this.#lifetime.check();
    return readPushConfigs(this.#sources, { scope, taskId, ...range });
  }

  async deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#lifetime.check();
    const stored = this.#scopes.of(scope);
    return this.#tables.transaction((tables) => deletePushConfig(tables, stored, { taskId, id }));
  }

  async rewriteConfig({ key }: DeliveryKey, change: ConfigChange): Promise<boolean> {
    this.#lifetime.check();
    return rewriteConfig(this.#tables, this.#scopes.of(key.scope), change);
  }

  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    this.#lifetime.check();
    const { queues, more } = await claimDeliveries(this.#tables, request);
    const claims = await readableDeliveries(queues, {
      note: (key, error) => this.#sources.unreadable.note(key, error),
      settle: (held, outcome) => this.settle(held, outcome),
    });
    return { claims, more };
  }

  async settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    this.#lifetime.check();
    const settle = { held, outcome };
    const { kind, isReady } =
      (await settleDelivered(this.#tables, this.#scopes, settle)) ??
      (await this.#tables.transaction((tables) => settleDelivery(tables, this.#scopes, settle)));
    if (isReady) this.#wakeups.deliveryReady(held.key.scope.agent);
    return kind === 'settled';
  }

  async queues(query: DeliveryQuery): Promise<DeliveryPage> {
    this.#lifetime.check();
    return listDeliveries(this.#tables, this.#scopes, query);
  }

  async replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    this.#lifetime.check();
    const replay = { queue, from };
    const { kind, isReady } = await this.#tables.transaction((tables) => replayDelivery(tables, this.#scopes, replay));
    if (isReady) this.#wakeups.deliveryReady(queue.key.scope.agent);
    return kind;
  }

  async purge(queue: DeliveryKey): Promise<boolean> {
    this.#lifetime.check();
    return this.#tables.transaction((tables) => purgeDelivery(tables, this.#scopes, queue));
  }
}
