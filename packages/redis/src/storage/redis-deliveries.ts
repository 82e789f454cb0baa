import {
  type ClaimedTexts,
  type Clock,
  type ConfigChange,
  type ConfigRange,
  type DeliveryClaim,
  type DeliveryClaimRequest,
  type DeliveryClaims,
  type DeliveryHead,
  type DeliveryKey,
  type DeliveryLog,
  type DeliveryOutcome,
  type DeliveryPage,
  type DeliveryQuery,
  deliveryQueue,
  type HeldDelivery,
  PARTITIONS,
  pageOf,
  purgeQueue,
  type QueueTables,
  readableDeliveries,
  repeatCall,
  replayQueue,
  type Scope,
  type StoredPushConfig,
  settleQueue,
  type TaskKey,
} from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import { recordOf } from './task-texts.js';
import type { UnreadableTasks } from './unreadable-tasks.js';
import type { WorkPlaces } from './work-places.js';

/** A claimed queue as returned by the script. */
type ClaimedQueue = readonly [
  member: string,
  head: string,
  config: string,
  last: string,
  first: string,
  records: readonly string[],
];

/** A queue with the floor and the last record of its log. */
type KnownDelivery = readonly [now: string, head: string, floor: string, last: string];

/** A queue with the log of its task. */
interface KnownQueue extends DeliveryLog {
  readonly head: DeliveryHead;
  readonly order: string;
}

/** A listed queue, with its order. */
type ListedQueue = readonly [member: string, head: string, last: string, order: string];

/** The outcome of a change of a queue, and whether a node can claim it now. */
export interface Changed<R> {
  readonly outcome: R;
  readonly isReady: boolean;
}

/** The argument of `LIST_DELIVERIES` for all agents. */
const ALL_AGENTS = '*';
/** Number of partitions that a list reads concurrently. */
const TOGETHER = 32;

type NamedConfig = StoredPushConfig & { readonly id: string };

/** Push configurations, and their delivery queues. The engine makes the decisions, and scripts compare and set. */
export class RedisDeliveries {
  readonly #calls: RedisCalls;
  readonly #work: WorkPlaces;
  readonly #unreadable: UnreadableTasks;
  readonly #clock: Clock;

  constructor(
    calls: RedisCalls,
    parts: { readonly work: WorkPlaces; readonly unreadable: UnreadableTasks; readonly clock: Clock },
  ) {
    this.#calls = calls;
    this.#work = parts.work;
    this.#unreadable = parts.unreadable;
    this.#clock = parts.clock;
  }

  async config(key: TaskKey, id: string): Promise<StoredPushConfig | undefined> {
    const place = this.#calls.keys.ofTask(key);
    const texts = await this.#calls.run<readonly (string | null)[] | null>('readConfigs', place, [
      place.name,
      JSON.stringify(id),
    ]);
    const text = texts?.[0];
    if (typeof text !== 'string') return undefined;
    return this.#unreadable.required(key, () => JSON.parse(text) as StoredPushConfig);
  }

  async configs(key: TaskKey, { cursor, limit }: ConfigRange): Promise<readonly StoredPushConfig[] | undefined> {
    const place = this.#calls.keys.ofTask(key);
    const texts = await this.#calls.run<readonly string[] | null>('readConfigs', place, [place.name, '']);
    return texts
      ?.flatMap((text) => this.#unreadable.readable(key, () => JSON.parse(text) as NamedConfig) ?? [])
      .filter(({ id }) => cursor === undefined || id > cursor)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  /** Returns false if the stored configuration is not `from`. */
  async rewrite(key: TaskKey, { from, to }: ConfigChange): Promise<boolean> {
    const place = this.#calls.keys.ofTask(key);
    const args = [place.name, JSON.stringify(from.id), JSON.stringify(from), JSON.stringify(to)];
    return (await this.#calls.run<0 | 1>('rewriteConfig', place, args)) === 1;
  }

  /** Returns false if there is no such task. */
  async remove(key: TaskKey, id: string): Promise<boolean> {
    const { name, agent, ...place } = this.#calls.keys.ofTask(key);
    return (await this.#calls.run<0 | 1>('deleteConfig', place, [name, agent, JSON.stringify(id)])) === 1;
  }

  async claim(request: DeliveryClaimRequest): Promise<DeliveryClaims> {
    const { agents, limit, maxBytes, node, leaseMs } = request;
    const names = agents.map((agent) => JSON.stringify(agent));
    const claims: DeliveryClaim[] = [];
    let left = Math.min(maxBytes, Number.MAX_SAFE_INTEGER);
    const partitions = await this.#work.places(agents);
    for (const partition of partitions) {
      if (claims.length > 0 && (claims.length >= limit || left <= 0)) return { claims, more: true };
      this.#work.removePlace(partition, agents);
      const { keys } = this.#calls;
      const place = { base: keys.base(partition), key: keys.count(partition) };
      const args = [JSON.stringify(node), leaseMs, limit - claims.length, left, ...names];
      const again = () => {
        for (const agent of agents) this.#work.ready(partition, agent);
      };
      const [found, more] = await this.#calls
        .run<readonly [readonly ClaimedQueue[], 0 | 1]>('claimDeliveries', place, args)
        .catch((error: unknown) => {
          again();
          throw error;
        });
      for (const queue of found) for (const record of queue[5]) left -= record.length;
      const readable = await readableDeliveries(found.map(textsOf), {
        note: (key, error) => this.#unreadable.note(key, error),
        settle: (held, outcome) => this.settle(held, outcome),
      });
      claims.push(...readable);
      if (more === 0) continue;
      again();
      return { claims, more: true };
    }
    return { claims, more: false };
  }

  async settle({ key, configId, epoch }: HeldDelivery, outcome: DeliveryOutcome): Promise<Changed<boolean>> {
    const { kind, isReady } = await this.#change({ key, configId }, (tables, queue, now) =>
      settleQueue(tables, { queue, epoch, outcome }, now),
    );
    return { outcome: kind === 'settled', isReady };
  }

  async replay(key: DeliveryKey, from: number | undefined): Promise<Changed<'replayed' | 'not-found' | 'not-kept'>> {
    const { kind, isReady } = await this.#change(key, (tables, queue, now) =>
      replayQueue(tables, { queue, from }, now),
    );
    return { outcome: kind, isReady };
  }

  async purge(key: DeliveryKey): Promise<Changed<boolean>> {
    const outcome = await this.#change(key, (tables, queue, now) => purgeQueue(tables, queue, now));
    return { outcome, isReady: false };
  }

  async page({ agents, scope, standing, cursor, limit }: DeliveryQuery): Promise<DeliveryPage> {
    const { keys } = this.#calls;
    const only = scope === undefined ? undefined : keys.ofScope(scope);
    if (scope !== undefined && agents?.includes(scope.agent) === false) return { queues: [] };
    const wanted = scope === undefined ? agents : [scope.agent];
    const names = wanted?.map((agent) => JSON.stringify(agent)) ?? [ALL_AGENTS];
    const start = cursorOf(cursor);
    const found: { readonly partition: number; readonly entry: ListedQueue }[] = [];
    const partitions = only === undefined ? Array.from({ length: PARTITIONS }, (_, at) => at) : [only.partition];
    const rest = partitions.filter((partition) => partition >= start.partition);
    for (let at = 0; at < rest.length && found.length <= limit; at += TOGETHER) {
      const group = rest.slice(at, at + TOGETHER).map(async (partition) => {
        const after = partition === start.partition ? start.order : '0';
        const filter = {
          standing: standing ?? '',
          only: only === undefined ? '' : `${only.scope.slice(0, -1)},`,
          names,
        };
        return { partition, ...(await this.#listPartition(partition, { ...filter, after, limit: limit + 1 })) };
      });
      for (const { partition, listed } of await Promise.all(group)) {
        found.push(...listed.map((entry) => ({ partition, entry })));
      }
    }
    const { found: queues, ...next } = pageOf(found, {
      limit,
      read: ({ entry: [member, text, last] }) =>
        deliveryQueue(deliveryKeyOf(member), deliveryHeadOf(text).head, Number(last)),
      cursorOf: ({ partition, entry }) => `${partition} ${entry[3]}`,
    });
    return { queues, ...next };
  }

  /** Returns queues of one partition after an order, at most `limit`. */
  async #listPartition(
    partition: number,
    filter: {
      readonly standing: string;
      readonly after: string;
      readonly limit: number;
      readonly only: string;
      readonly names: readonly string[];
    },
  ): Promise<{ readonly listed: readonly ListedQueue[] }> {
    const { keys } = this.#calls;
    const place = { base: keys.base(partition), key: keys.count(partition) };
    const listed: ListedQueue[] = [];
    for (let after: string | null = filter.after; after !== null && listed.length < filter.limit; ) {
      const args = [filter.standing, after, filter.limit - listed.length, filter.only, ...filter.names];
      const answer: readonly [readonly ListedQueue[], string | null] = await this.#calls.run(
        'listDeliveries',
        place,
        args,
      );
      listed.push(...answer[0]);
      after = answer[1];
    }
    return { listed };
  }

  /** Lets the engine change a queue, and repeats that if the queue or its task has changed before the write. */
  #change<R extends NonNullable<unknown>>(
    { key, configId }: DeliveryKey,
    decide: (tables: QueueTables<KnownQueue>, queue: KnownQueue | undefined, now: number) => R,
  ): Promise<R> {
    const place = this.#calls.keys.ofTask(key);
    const config = JSON.stringify(configId);
    return repeatCall(this.#clock, `The deliveries of the task ${key.id}`, async () => {
      const known = await this.#calls.run<KnownDelivery | null>('readDelivery', place, [place.name, config]);
      const [now = '0', seen = '', floor, last = '0'] = known ?? [];
      const queue = known === null ? undefined : { ...deliveryHeadOf(seen), floor: Number(floor), last: Number(last) };
      let written: DeliveryHead | undefined;
      const tables: QueueTables<KnownQueue> = {
        head: ({ head }) => head,
        log: (log) => log,
        write: (_, head) => {
          written = head;
        },
      };
      const outcome = decide(tables, queue, Number(now));
      if (queue === undefined || written === undefined) return outcome;
      const due = written.dueAt === undefined ? '' : Math.ceil(written.dueAt);
      const args = [place.name, place.agent, config, seen, last, deliveryText(written, queue.order), due];
      return (await this.#calls.run<0 | 1>('writeDelivery', place, args)) === 1 ? outcome : undefined;
    });
  }
}

/** Parses the head of a queue: see `DELIVERY` in `lua-prelude.ts`. */
function deliveryHeadOf(text: string): { readonly head: DeliveryHead; readonly order: string } {
  const [position, due, attempts, status, epoch, lease, order = '', parked, ...rest] = text.split(' ');
  const [node, reason, trace] = JSON.parse(rest.join(' ')) as readonly (string | null)[];
  const readNumber = (field: string | undefined) => (field === '-1' ? undefined : Number(field));
  const leaseEnd = readNumber(lease);
  return {
    order,
    head: {
      position: Number(position),
      dueAt: readNumber(due),
      attempts: Number(attempts),
      lastStatus: readNumber(status),
      parked: parked === '1' ? (reason ?? '') : undefined,
      epoch: Number(epoch),
      holder: leaseEnd === undefined ? undefined : { node: node ?? '', leaseEnd },
      trace: trace ?? undefined,
    },
  };
}

function deliveryText(head: DeliveryHead, order: string): string {
  const { position, dueAt = -1, attempts, lastStatus = -1, epoch, holder, parked, trace } = head;
  const lease = Math.ceil(holder?.leaseEnd ?? -1);
  const names = [holder?.node ?? null, parked ?? null, ...(trace === undefined ? [] : [trace])];
  const numbers = [position, Math.ceil(dueAt), attempts, lastStatus, epoch, lease, order, parked === undefined ? 0 : 1];
  return `${numbers.join(' ')} ${JSON.stringify(names)}`;
}

/** Parses the key of a DELIVERY. */
function deliveryKeyOf(member: string): DeliveryKey {
  const [agent, tenant, owner, id, configId] = JSON.parse(member) as [string, string, string | null, string, string];
  const scope: Scope = { agent, tenant, owner };
  return { key: { scope, id }, configId };
}

function textsOf([member, text, config, last, first, records]: ClaimedQueue): ClaimedTexts {
  const { position, attempts, epoch, trace } = deliveryHeadOf(text).head;
  return {
    ...deliveryKeyOf(member),
    epoch,
    config,
    position,
    last: Number(last),
    attempts,
    trace,
    records: records.map((record, at) => () => recordOf(Number(first) + at, record)),
  };
}

/** Parses the cursor of a list. */
function cursorOf(cursor: string | undefined): { readonly partition: number; readonly order: string } {
  const [, partition = '0', order = '0'] = /^(\d+) (\d+)$/.exec(cursor ?? '') ?? [];
  return { partition: Number(partition), order };
}
