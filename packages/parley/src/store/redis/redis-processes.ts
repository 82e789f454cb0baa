import { PARTITIONS } from '../partition.js';
import type { NodeBeat, StorageNode } from '../task-storage.js';
import type { RedisCalls } from './redis-calls.js';
import { KEY } from './redis-keys.js';

/** A process that was not seen for so long is forgotten. */
const FORGET_MS = 3_600_000;

/** A check writes to so many partitions of a cluster: every 16th. */
const PROBE_STEP = 16;

/** Answers the storage's time. */
export const NOW = `
return num(now())
`;

/** Notes that a process is alive. ARGV: its id, its agents and its count of turns. Answers the time. */
export const HEARTBEAT = `
local time = now()
local earlier = call('HGET', KEYS[1], ARGV[2])
local first = earlier and string.match(earlier, '^%S+') or num(time)
call('HSET', KEYS[1], ARGV[2], first .. ' ' .. num(time) .. ' ' .. ARGV[4] .. ' ' .. ARGV[3])
local all = call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local seen = string.match(all[at + 1], '^%S+ (%S+)')
  if tonumber(seen) < time - ${FORGET_MS} then
    call('HDEL', KEYS[1], all[at])
  end
end
return num(time)
`;

/** Answers the time, and the processes with their texts. */
export const READ_NODES = `
return { num(now()), call('HGETALL', KEYS[1]) }
`;

/** Writes something of no meaning, and answers the count of turns that wait in a partition. */
export const CHECK = `
if ARGV[2] ~= '' then
  call('SET', base .. 'check', ARGV[2])
end
return call('HGET', base .. '${KEY.count}', 'waiting')
`;

/** The processes of a storage, and its time. */
export class RedisProcesses {
  readonly #calls: RedisCalls;

  constructor(calls: RedisCalls) {
    this.#calls = calls;
  }

  async now(): Promise<number> {
    return Number(await this.#calls.run<string>('now', this.#place, []));
  }

  async heartbeat({ node, agents, runningTurns }: NodeBeat): Promise<number> {
    const args = [node, JSON.stringify(agents), runningTurns];
    return Number(await this.#calls.run<string>('heartbeat', this.#place, args));
  }

  async nodes(): Promise<readonly StorageNode[]> {
    const [now, all] = await this.#calls.run<readonly [string, readonly string[]]>('readNodes', this.#place, []);
    const nodes: StorageNode[] = [];
    for (let at = 0; at < all.length; at += 2) {
      const [first, seen, turns, ...agents] = (all[at + 1] ?? '').split(' ');
      if (Number(seen) < Number(now) - FORGET_MS) continue;
      nodes.push({
        node: all[at] ?? '',
        agents: JSON.parse(agents.join(' ')) as readonly string[],
        runningTurns: Number(turns),
        firstSeenAt: Number(first),
        seenAt: Number(seen),
      });
    }
    return nodes.sort((one, other) => one.firstSeenAt - other.firstSeenAt || (one.node < other.node ? -1 : 1));
  }

  /**
   * Writes to one partition, and to several in a cluster, so that each server gets one. Resolves to the count of turns
   * that wait.
   */
  async check(): Promise<number> {
    const { keys, runner } = this.#calls;
    const written = Array.from({ length: runner.isCluster ? PARTITIONS / PROBE_STEP : 1 }, (_, at) => {
      const partition = at * PROBE_STEP;
      return this.#calls.run('check', { base: keys.base(partition), key: keys.count(partition) }, ['1']);
    });
    await Promise.all(written);
    const counts = await this.#calls.everywhere<string | null>('check', ['']);
    return counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
  }

  get #place(): { readonly base: string; readonly key: string } {
    return { base: this.#calls.keys.nodes, key: this.#calls.keys.nodes };
  }
}
