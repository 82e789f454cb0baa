import { PARTITIONS, partitionOf, type Scope, type TaskKey } from 'parley-a2a/storage-engine';

/**
 * The layout of the keys.
 * Every key begins with the prefix of the storage and the hash tag of its partition: `parley:{p17}`. All data of one
 * scope are in one partition. So a script uses one partition, and in a cluster one slot.
 * The rest of a key is one of these texts, followed by JSON. SCOPE is `[agent,tenant,owner]`, NAME is
 * `[agent,tenant,owner,id]`, AGENT is the agent. The end of a JSON text is unambiguous. So no two scopes or tasks share
 * a key, whatever characters they contain.
 */
export const KEY = {
  /** With NAME, a hash: the task. See `TASK_FIELD`. */
  task: 't:',
  /**
   * With NAME, a list: the last records. An element has the turn, the event, the history and the metadata, separated by
   * line breaks. JSON has no line breaks. The last element is the last record of the task.
   */
  log: 'log:',
  /** With NAME, a hash: the push configurations, by their ids as JSON. */
  configs: 'conf:',
  /** With NAME, a hash: the heads of the delivery queues, by the ids of their configurations as JSON. */
  deliveries: 'deliv:',
  /** With the number of a state and SCOPE, a sorted set: ids of tasks by status time. */
  state: 'state:',
  /** With SCOPE, a sorted set: ids of all tasks by time of creation. */
  made: 'made:',
  /** With SCOPE and the context id as JSON, a sorted set: ids of the tasks of the context by status time. */
  context: 'ctx:',
  /**
   * A set: each AGENT that ever had a task in `ready` or a delivery queue in the partition. Agents are few, so none is
   * removed.
   */
  agents: 'agents',
  /** With AGENT, a sorted set: the NAMEs of tasks whose first turn no node holds, by place. */
  ready: 'ready:',
  /** With AGENT, a sorted set: the NAMEs of tasks whose first turn a node holds, by the end of the lease. */
  lease: 'lease:',
  /** With AGENT, a sorted set: the NAMEs of tasks in an interrupted state, by status time. */
  waits: 'waits:',
  /** With AGENT, a sorted set: delivery queues by the time of their next attempt. A queue is NAME with the id. */
  due: 'due:',
  /** With AGENT, a sorted set: all delivery queues by the order of their configurations. */
  queues: 'queues:',
  /** A sorted set: the NAMEs of finished tasks by the time of their end. */
  ended: 'ended',
  /** A sorted set: the NAMEs of finished tasks that have a log, by the time of their end. */
  logs: 'logs',
  /** With SCOPE and the idempotency key as JSON, a hash. See `KEY_LUA`. */
  key: 'key:',
  /** A sorted set: all idempotency keys, named by SCOPE and key, by expiry. */
  keys: 'keys',
  /** A hash: blocked owners, as texts of `ownerQueryText`, with the ends of their blocks. */
  blocks: 'blocks',
  /**
   * A hash that is never deleted: the counters of the partition. `place` numbers turns, `order` configurations. `logs`:
   * bytes of logs of finished tasks. `waiting`: number of turns without a holder.
   */
  count: 'count',
} as const;

/** The fields of the hash of a task. A turn has five fields, with its number after the letter. */
export const TASK_FIELD = {
  /** The numbers of the head. See `headTextOf`. */
  head: 'h',
  /** The node that holds the first turn, if the head has a lease. */
  node: 'n',
  /** The context id as JSON; absent if the task has none. */
  context: 'c',
  /** The status after the last record. */
  status: 's',
  /** The metadata after the last record; absent if there are none. */
  metadata: 'd',
  /** Sequence number of the snapshot. A finished task has a snapshot of its last record. */
  snapshot: 'y',
  /** Status and metadata of the snapshot of an open task. */
  snapshotStatus: 'ys',
  snapshotMetadata: 'yd',
  history: 'yh',
  artifacts: 'ya',
  /** The message of a turn. */
  message: 'm',
  /** The caller of a turn. */
  caller: 'c',
  /** Attempts, hand-overs and place of a turn, separated by spaces. */
  counts: 'n',
  /** The checkpoint of a turn, if any. */
  checkpoint: 'k',
  /** The request to cancel a turn, if any. */
  cancel: 'x',
} as const;

/** The place of a scope. */
export interface ScopePlace {
  readonly partition: number;
  /** The prefix of all keys of the partition. */
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
interface KeptKeyPlace extends ScopePlace {
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

  /** Returns the prefix of all keys of a partition. */
  base(partition: number): string {
    return this.#bases[partition] ?? '';
  }

  /** Returns the key of the counters of a partition. Scripts that are not about a single task declare this key. */
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

  ofKey(scope: Scope, key: string): KeptKeyPlace {
    const place = this.ofScope(scope);
    const text = JSON.stringify(key);
    return { ...place, text, key: `${place.base}${KEY.key}${place.scope}${text}` };
  }
}

/** Parses a NAME. */
export function taskKeyOf(name: string): TaskKey {
  const [agent, tenant, owner, id] = JSON.parse(name) as [string, string, string | null, string];
  return { scope: { agent, tenant, owner }, id };
}
