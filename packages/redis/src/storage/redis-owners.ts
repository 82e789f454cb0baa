import {
  type ErasedRows,
  eraseShared,
  FirstScopes,
  isOwnedBy,
  type ListedScope,
  type OwnedKey,
  type OwnedKeyPage,
  type OwnedTaskPage,
  type OwnedTaskRange,
  type OwnerQuery,
  type OwnerStorage,
  ownerQueryText,
  type Scope,
  type ScopeRange,
  type SharedOwnedRows,
  type Wakeups,
} from 'parley-a2a/storage-engine';
import type { OpenCalls } from './open-calls.js';
import { readOwnedTasks } from './owned-tasks.js';
import type { RedisCalls } from './redis-calls.js';
import { KEY, taskKeyOf } from './redis-keys.js';
import { type RunCommands, walkKeys } from './redis-walk.js';

/** The dependencies of the data of users. */
interface RedisOwnersOptions {
  readonly calls: RedisCalls;
  readonly open: OpenCalls;
  readonly wakeups: Wakeups;
  readonly prefix: string;
  readonly run: RunCommands;
}

/** Number of keys that one command scans. */
const SCANNED = 1_000;
/** The kinds of keys that contain a scope or a task. */
const OWNED_KINDS = [
  ...[KEY.task, KEY.log, KEY.configs, KEY.deliveries],
  ...[KEY.state, KEY.made, KEY.context, KEY.key],
];
/**
 * The data of users in Redis. There is no index of owners, so all keys are scanned. Every key contains its scope, so
 * that no remaining data are missed.
 */
export class RedisOwners implements OwnerStorage {
  readonly #options: RedisOwnersOptions;

  constructor(options: RedisOwnersOptions) {
    this.#options = options;
  }

  block(owner: OwnerQuery, forMs: number): Promise<void> {
    const { open, calls } = this.#options;
    return open.run(async () => void (await calls.everywhere('block', [ownerQueryText(owner), forMs])));
  }

  scopes(owner: OwnerQuery): Promise<readonly Scope[]> {
    const { open, run, prefix } = this.#options;
    return open.run(async () => {
      const found = new Map<string, Scope>();
      for await (const { keys } of walkKeys(run, prefix, '{p*}*')) {
        for (const key of keys) {
          const scope = scopeIn(key);
          if (scope !== undefined && isOwnedBy(owner, scope)) found.set(JSON.stringify(scope), scope);
        }
      }
      return [...found.values()];
    });
  }

  listScopes(range: ScopeRange): Promise<readonly ListedScope[]> {
    const { open, run, prefix } = this.#options;
    return open.run(async () => {
      const first = new FirstScopes(range);
      // Each scope with a task has one such key.
      for await (const { keys } of walkKeys(run, prefix, `{p*}${KEY.made}*`)) {
        for (const key of keys) {
          const scope = scopeIn(key);
          if (scope !== undefined) first.add(scope);
        }
      }
      return first.page;
    });
  }

  allTasks(range: OwnedTaskRange): Promise<OwnedTaskPage> {
    return this.#options.open.run(() => readOwnedTasks(this.#options, range));
  }

  keys(scope: Scope): Promise<OwnedKeyPage> {
    const { open, run, calls } = this.#options;
    return open.run(async () => {
      const place = calls.keys.ofScope(scope);
      const keys: OwnedKey[] = [];
      for await (const members of this.#keyMembers(scope)) {
        const rows = await run(async (client) =>
          Promise.all(members.map((member) => client.hgetall(`${place.base}${KEY.key}${member}`))),
        );
        for (const [at, { x, t, u, r }] of rows.entries()) {
          if (x === undefined) continue;
          keys.push({
            key: JSON.parse((members[at] as string).slice(place.scope.length)) as string,
            expiresAt: Number(x),
            taskId: t === undefined ? null : taskKeyOf(t).id,
            turn: u === undefined ? null : Number(u),
            reply: r ?? null,
          });
        }
      }
      return { keys };
    });
  }

  erase(scope: Scope, limit: number): Promise<ErasedRows> {
    const { open, calls, wakeups } = this.#options;
    return open.run(async () => {
      const place = calls.keys.ofScope(scope);
      const at = { base: place.base, key: calls.keys.count(place.partition) };
      const rows: SharedOwnedRows = {
        tasks: async (most) => {
          const found = await calls.run<readonly string[]>('ownedIds', at, [place.scope, most]);
          await Promise.all(found.map((id) => this.#eraseTask(scope, id)));
          return { found: found.length, ids: found };
        },
        keys: async (most) => {
          for await (const members of this.#keyMembers(scope)) {
            const dropped = members.slice(0, most);
            await calls.run('eraseKeys', at, dropped);
            return dropped.length;
          }
          return 0;
        },
        rest: () => this.#eraseRest(scope),
      };
      const { ids, ...erased } = await eraseShared(rows, limit);
      for (const id of ids) wakeups.taskChanged({ scope, id });
      return erased;
    });
  }

  /** Nothing to do: the storage has no access to files of the server, and freed memory is in none of them. */
  scrub(): Promise<void> {
    return this.#options.open.run(async () => {});
  }

  async #eraseTask(scope: Scope, id: string): Promise<void> {
    const { calls } = this.#options;
    const { name, scope: text, agent, ...place } = calls.keys.ofTask({ scope, id });
    await calls.run('eraseTask', place, [name, text, agent, id]);
  }

  /** Erases what no list of the scope contains: remains of damaged tasks. */
  async #eraseRest(scope: Scope): Promise<number> {
    const { calls, run } = this.#options;
    const { base, scope: text } = calls.keys.ofScope(scope);
    let tasks = 0;
    for await (const { keys } of walkKeys(run, base)) {
      for (const key of keys) {
        const found = scopeIn(key);
        if (found === undefined || JSON.stringify([found.agent, found.tenant, found.owner]) !== text) continue;
        const name = key.slice(key.indexOf('}') + 1);
        if (name.startsWith(KEY.task)) {
          await this.#eraseTask(scope, taskKeyOf(name.slice(KEY.task.length)).id);
          tasks += 1;
        } else await run((client) => client.unlink(key));
      }
    }
    return tasks;
  }

  /** Iterates over the members of the set of idempotency keys that belong to a scope. */
  async *#keyMembers(scope: Scope): AsyncGenerator<readonly string[]> {
    const { calls, run } = this.#options;
    const { base, scope: text } = calls.keys.ofScope(scope);
    let cursor = '0';
    do {
      const [next, found] = await run((client) => client.zscan(`${base}${KEY.keys}`, cursor, 'COUNT', SCANNED));
      cursor = next;
      const members = found.filter((member, at) => at % 2 === 0 && member.startsWith(text));
      if (members.length > 0) yield members;
    } while (cursor !== '0');
  }
}

/** Returns the scope in a key; `undefined` for a key without one. */
function scopeIn(key: string): Scope | undefined {
  const name = key.slice(key.indexOf('}') + 1);
  const kind = OWNED_KINDS.find((one) => name.startsWith(one));
  if (kind === undefined) return undefined;
  // The number of a state precedes the scope, and JSON follows the scope of a context or a key.
  const rest = name.slice(kind === KEY.state ? name.indexOf('[') : kind.length);
  for (let end = rest.indexOf(']"'); end >= 0; end = rest.indexOf(']"', end + 1)) {
    const scope = scopeOf(rest.slice(0, end + 1));
    if (scope !== undefined) return scope;
  }
  return scopeOf(rest);
}

/** Parses a SCOPE or a NAME; `undefined` for any other text. */
function scopeOf(text: string): Scope | undefined {
  try {
    const [agent, tenant, owner] = JSON.parse(text) as readonly [string, string, string | null];
    return { agent, tenant, owner };
  } catch {
    return undefined;
  }
}
