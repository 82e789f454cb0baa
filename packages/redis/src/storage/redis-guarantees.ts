import { StorageError } from 'parley-a2a/storage-engine';

/** The status and configuration of one server. */
export interface ServerFacts {
  /** The text of INFO. */
  readonly info: string;
  /** The answer to CONFIG GET for `appendfsync`; undefined if the server forbids CONFIG. */
  readonly appendfsync: string | undefined;
}

/** The guarantees of a storage in Redis, and one sentence for each limitation. */
export interface RedisGuarantees {
  readonly durability: 'power-loss' | 'process';
  readonly warnings: readonly string[];
}

/** Options of the operator that affect the guarantees. */
interface StatedGuarantees {
  readonly durability?: 'power-loss' | 'process';
  readonly subject: string;
}

const OLDEST = 7;
const FAILOVER = 'Redis copies writes to its replicas later: a failover can lose the newest ones';

/**
 * Returns the guarantees of all servers together, which are those of the weakest server.
 * @throws StorageError if a server may evict keys, or is too old.
 */
export function redisGuarantees(servers: readonly ServerFacts[], stated: StatedGuarantees): RedisGuarantees {
  const warnings = new Set<string>();
  let durability: RedisGuarantees['durability'] = 'power-loss';
  for (const { info, appendfsync } of servers) {
    refuseUnusable(info, stated.subject);
    const policy = infoField(info, 'maxmemory_policy');
    if (policy === undefined) warnings.add('Redis does not say its maxmemory-policy. It must be noeviction');
    const isLog = infoField(info, 'aof_enabled');
    if (isLog === '1' && appendfsync === 'always') continue;
    if (stated.durability === 'power-loss' && (isLog === undefined || (isLog === '1' && appendfsync === undefined))) {
      continue;
    }
    durability = 'process';
    if (isLog === '0')
      warnings.add('Redis keeps no append-only file: tasks are lost if Redis restarts. Set appendonly yes');
    else if (appendfsync === undefined) {
      warnings.add('Redis does not say its appendfsync. If it is always, state it with durability=power-loss');
    } else {
      warnings.add(
        `Redis has appendfsync ${appendfsync}: a power loss can lose the newest writes. Set appendfsync always`,
      );
    }
  }
  const hasReplicas = servers.some(({ info }) => Number(infoField(info, 'connected_slaves') ?? 0) > 0);
  if (hasReplicas) warnings.add(FAILOVER);
  if (stated.durability === 'process') durability = 'process';
  return { durability, warnings: [...warnings] };
}

function refuseUnusable(info: string, subject: string): void {
  const refuse = (reason: string) => new StorageError(`Redis at ${subject} cannot be used: ${reason}`);
  const version = infoField(info, 'redis_version');
  if (version !== undefined && Number.parseInt(version, 10) < OLDEST) {
    throw refuse(`its version is ${version}, and ${OLDEST}.0 is needed`);
  }
  const policy = infoField(info, 'maxmemory_policy');
  if (policy === undefined || policy === 'noeviction') return;
  throw refuse(`its maxmemory-policy is ${policy}, which deletes tasks. Set maxmemory-policy noeviction`);
}

/** Returns a field in the text of INFO. */
function infoField(info: string, name: string): string | undefined {
  for (const line of info.split('\n')) if (line.startsWith(`${name}:`)) return line.slice(name.length + 1).trim();
  return undefined;
}
