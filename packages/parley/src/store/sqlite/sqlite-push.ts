import { unreadableReason } from '../../errors/unreadable-task-error.js';
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
import { readableDeliveries } from '../readable-deliveries.js';
import type { ClockedLifetime } from '../storage-lifetime.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { WakeupListener } from '../wakeups.js';
import type { FileReads } from './file-reads.js';
import type { GroupCommit } from './group-commit.js';
import type { KnownConfigs } from './known-configs.js';
import { readPushConfig, readPushConfigs } from './read-keys-and-configs.js';
import { recordOf } from './record-rows.js';
import type { SetAside } from './set-aside.js';
import { queueFields, scopeFields } from './to-write-requests.js';

/** The dependencies of the push configurations. */
interface SqlitePushOptions {
  readonly lifetime: ClockedLifetime;
  readonly commits: GroupCommit;
  readonly reads: FileReads;
  readonly setAside: SetAside;
  readonly wakeups: Pick<WakeupListener, 'deliveryReady'>;
  readonly onLease: ((node: string) => void) | undefined;
  readonly known: KnownConfigs | undefined;
}

/** The push configurations in a file, with their deliveries. */
export class SqlitePush implements PushStorage {
  readonly #lifetime: ClockedLifetime;
  readonly #commits: GroupCommit;
  readonly #reads: FileReads;
  readonly #setAside: SetAside;
  readonly #wakeups: Pick<WakeupListener, 'deliveryReady'>;
  readonly #onLease: SqlitePushOptions['onLease'];
  readonly #known: KnownConfigs | undefined;

  constructor({ lifetime, commits, reads, setAside, wakeups, onLease, known }: SqlitePushOptions) {
    this.#lifetime = lifetime;
    this.#commits = commits;
    this.#reads = reads;
    this.#setAside = setAside;
    this.#wakeups = wakeups;
    this.#onLease = onLease;
    this.#known = known;
  }

  async putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut> {
    const now = this.#lifetime.now();
    const { taskId, id } = config;
    const put = { scope: scopeFields(scope), now, taskId, id, config: JSON.stringify(config), limit: limit ?? null };
    const result = await this.#commits.do(['put-push-config', put]);
    if (result === 'put') this.#wakeups.deliveryReady(scope.agent);
    return result;
  }

  async config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined> {
    this.#lifetime.check();
    const key = { scope, taskId, id };
    const read = () => this.#reads.ofTask(taskId, (tables) => readPushConfig(tables, key));
    return this.#known === undefined ? read() : this.#known.config(key, read);
  }

  async configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    this.#lifetime.check();
    const { cursor, limit } = range;
    return this.#reads.here((tables) => readPushConfigs(tables, { scope, taskId, cursor, limit }));
  }

  async deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean> {
    this.#lifetime.check();
    return this.#commits.do(['delete-push-config', { scope: scopeFields(scope), taskId, id }]);
  }

  async rewriteConfig(queue: DeliveryKey, { from, to }: ConfigChange): Promise<boolean> {
    this.#lifetime.check();
    const texts = { from: JSON.stringify(from), to: JSON.stringify(to) };
    return this.#commits.do(['rewrite-config', { queue: queueFields(queue), ...texts }]);
  }

  async claim({ node, leaseMs, agents, limit, maxBytes }: DeliveryClaimRequest): Promise<DeliveryClaims> {
    const now = this.#lifetime.now();
    this.#onLease?.(node);
    const write = { now, node, leaseMs, agents, limit, maxBytes };
    const { claims, more } = await this.#commits.do(['claim-deliveries', write]);
    const queues = claims.map(({ scope: [agent, tenant, owner], taskId, records, ...claim }) => ({
      key: { scope: { agent, tenant, owner }, id: taskId },
      ...claim,
      records: records.map((record) => () => recordOf(record)),
    }));
    const note = ({ id }: TaskKey, error: unknown) => this.#setAside.add(id, unreadableReason(error));
    const settle = (held: HeldDelivery, outcome: DeliveryOutcome) => this.settle(held, outcome);
    return { claims: await readableDeliveries(queues, { note, settle }), more };
  }

  async settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean> {
    const now = this.#lifetime.now();
    const settle = { queue: queueFields(held), now, epoch: held.epoch, outcome };
    const { kind, isReady } = await this.#commits.do(['settle-delivery', settle]);
    if (isReady) this.#wakeups.deliveryReady(held.key.scope.agent);
    return kind === 'settled';
  }

  async queues(query: DeliveryQuery): Promise<DeliveryPage> {
    this.#lifetime.check();
    return this.#reads.apart('deliveries', { read: 'deliveries', query });
  }

  async replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'> {
    const now = this.#lifetime.now();
    const { kind, isReady } = await this.#commits.do(['replay-delivery', { queue: queueFields(queue), now, from }]);
    if (isReady) this.#wakeups.deliveryReady(queue.key.scope.agent);
    return kind;
  }

  async purge(queue: DeliveryKey): Promise<boolean> {
    const now = this.#lifetime.now();
    return this.#commits.do(['purge-delivery', { queue: queueFields(queue), now }]);
  }
}
