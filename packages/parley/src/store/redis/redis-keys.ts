import { PARTITIONS, partitionOf } from '../partition.js';
import type { Scope, TaskKey } from '../task-storage.js';

/*
 * The layout of the keys.
 *
 * Every key begins with the prefix of the storage and the hash tag of its partition: `parley:{p17}`. All that belongs
 * to one scope lies in one partition, so a script touches one partition only. In a cluster a partition lies in one slot.
 *
 * SCOPE is JSON `[agent,tenant,owner]`, NAME is JSON `[agent,tenant,owner,id]`, AGENT is the agent as JSON. JSON texts
 * say by themselves where they end, so that no two scopes or tasks share a key, whatever characters they have.
 *
 * t:NAME        hash     the task. Its fields:
 *                          h   the head: numbers with spaces between them, see `HEAD_FIELDS`
 *                          n   the node that holds the first turn, if the head names one
 *                          c   the context id as JSON; absent if the task has none
 *                          s,d status and metadata after the last record; d is absent for a task without metadata
 *                          y   sequence number of the snapshot; ys, yd, yh, ya: its status, metadata, history, artifacts.
 *                              A task that has ended has a snapshot of its last record.
 *                          mT, cT  message and caller of the waiting or held turn T
 *                          nT      its attempts, hand-overs and place, with spaces between them
 *                          kT, xT  its checkpoint and its request to cancel, if any
 * log:NAME      list     the last records: `turn \n event \n history \n metadata`, the last two only if they are there.
 *                        JSON has no line breaks. The last element is the record `seq`, so the floor follows from LLEN.
 * conf:NAME     hash     push configurations: id -> JSON
 * deliv:NAME    hash     the head of the queue of deliveries of each configuration, see `DELIVERY` in `lua-prelude.ts`
 * state:N SCOPE zset     the tasks in state N (its protobuf number): id by status time. ZCARD is their count.
 * made:SCOPE    zset     the tasks of a scope: id by time of creation
 * ctx:SCOPE C   zset     the tasks of the context C (as JSON): id by status time
 * ready:AGENT   zset     tasks whose first turn no node holds: NAME by place
 * lease:AGENT   zset     tasks whose first turn a node holds: NAME by end of the lease
 * waits:AGENT   zset     tasks in an interrupted state: NAME by status time
 * due:AGENT     zset     queues of deliveries that are due: DELIVERY by time
 * queues:AGENT  zset     all queues of deliveries: DELIVERY by order
 * ended         zset     tasks that have ended: NAME by time of the end
 * logs          zset     those of them that have a log: NAME by time of the end
 * key:SCOPE K   hash     the idempotency key K (as JSON): x expiry, g digest, t task, u turn, r reply, n node, l lease end
 * keys          zset     the idempotency keys: `SCOPE K` by expiry
 * count         hash     counters of the partition, which never go: place, order (of configurations), logs and keys
 *                        (bytes of all logs of ended tasks, of all idempotency keys), waiting (turns without a holder)
 *
 * DELIVERY is JSON `[agent,tenant,owner,id,configuration]`. Keys without a partition: `{nodes}` for the heartbeats.
 */

/** The beginnings of the names of keys. */
export const KEY = {
  task: 't:',
  log: 'log:',
  configs: 'conf:',
  deliveries: 'deliv:',
  state: 'state:',
  made: 'made:',
  context: 'ctx:',
  ready: 'ready:',
  lease: 'lease:',
  waits: 'waits:',
  due: 'due:',
  queues: 'queues:',
  ended: 'ended',
  logs: 'logs',
  key: 'key:',
  keys: 'keys',
  count: 'count',
} as const;

/** The place of a scope. */
export interface ScopePlace {
  readonly partition: number;
  /** The beginning of all keys of the partition. */
  readonly base: string;
  /** SCOPE of the layout. */
  readonly scope: string;
  /** AGENT of the layout. */
  readonly agent: string;
}

/** The place of a task. */
export interface TaskPlace extends ScopePlace {
  /** NAME of the layout. */
  readonly name: string;
  /** The key of its hash. */
  readonly key: string;
}

/** The place of an idempotency key. */
export interface KeyPlace extends ScopePlace {
  /** The key as JSON. */
  readonly text: string;
  /** The key of its hash. */
  readonly key: string;
}

/** The names of all keys of a storage. */
export class RedisKeys {
  readonly #bases: readonly string[];
  /** The heartbeats of the processes. */
  readonly nodes: string;

  constructor(prefix: string) {
    this.#bases = Array.from({ length: PARTITIONS }, (_, partition) => `${prefix}{p${partition}}`);
    this.nodes = `${prefix}{nodes}`;
  }

  /** The beginning of all keys of a partition. */
  base(partition: number): string {
    return this.#bases[partition] ?? '';
  }

  /** The counters of a partition. Scripts that touch no single task name this key. */
  count(partition: number): string {
    return `${this.base(partition)}${KEY.count}`;
  }

  ofScope(scope: Scope): ScopePlace {
    const partition = partitionOf(scope);
    const { agent, tenant, owner } = scope;
    return {
      partition,
      base: this.base(partition),
      scope: JSON.stringify([agent, tenant, owner]),
      agent: JSON.stringify(agent),
    };
  }

  ofTask({ scope, id }: TaskKey): TaskPlace {
    const place = this.ofScope(scope);
    const name = `${place.scope.slice(0, -1)},${JSON.stringify(id)}]`;
    return { ...place, name, key: `${place.base}${KEY.task}${name}` };
  }

  ofKey(scope: Scope, key: string): KeyPlace {
    const place = this.ofScope(scope);
    const text = JSON.stringify(key);
    return { ...place, text, key: `${place.base}${KEY.key}${place.scope}${text}` };
  }
}

/** The task of a NAME. */
export function taskKeyOf(name: string): TaskKey {
  const [agent, tenant, owner, id] = JSON.parse(name) as [string, string, string | null, string];
  return { scope: { agent, tenant, owner }, id };
}
