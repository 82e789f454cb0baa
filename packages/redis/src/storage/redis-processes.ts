import {
  arrivalAt,
  type NodeBeat,
  oldestWaits,
  PARTITIONS,
  type StorageLoad,
  type StorageNode,
} from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import { KEY } from './redis-keys.js';

/** Time in ms after which a process without a heartbeat is forgotten. */
const FORGET_MS = 3_600_000;

/** A check of a cluster writes to every 16th partition. */
const PROBE_STEP = 16;

/** Returns the storage's time. */
export const NOW = `
return num(now())
`;

/** Stores a heartbeat of a process. ARGV: its id, its agents and its number of turns. Returns the time. */
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

/** Returns the time, and the processes with their texts. */
export const READ_NODES = `
return { num(now()), call('HGETALL', KEYS[1]) }
`;

/** Writes a meaningless value. Returns the amount of waiting work in a partition. See `CheckAnswer`. */
export const CHECK = `
if ARGV[2] ~= '' then
  call('SET', base .. 'check', ARGV[2])
end
local place, pending, due = false, 0, false
local function earlier(known, set)
  local first = call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  return first and (not known or tonumber(first) < tonumber(known)) and first or known
end
for _, agent in ipairs(call('SMEMBERS', base .. '${KEY.agents}')) do
  place = earlier(place, base .. '${KEY.ready}' .. agent)
  pending = pending + call('ZCARD', base .. '${KEY.due}' .. agent)
  due = earlier(due, base .. '${KEY.due}' .. agent)
end
return { num(now()), call('HGET', base .. '${KEY.count}', 'waiting'), place, pending, due }
`;

/**
 * The answer of `CHECK`: the number of turns without a holder, and the first place of a claimable one. Then the number
 * of pending delivery queues, and the earliest time of an attempt.
 */
type CheckAnswer = readonly [
  now: string,
  waiting: string | null,
  place: string | null,
  pending: number,
  due: string | null,
];

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

  /** Writes to one partition, or to several in a cluster, so that each server is checked. */
  async check(): Promise<StorageLoad> {
    const { keys, runner } = this.#calls;
    const written = Array.from({ length: runner.isCluster ? PARTITIONS / PROBE_STEP : 1 }, (_, at) => {
      const partition = at * PROBE_STEP;
      return this.#calls.run('check', { base: keys.base(partition), key: keys.count(partition) }, ['1']);
    });
    await Promise.all(written);
    const answers = await this.#calls.everywhere<CheckAnswer>('check', ['']);
    return {
      waiting: answers.reduce((sum, [, waiting]) => sum + Number(waiting ?? 0), 0),
      pendingDeliveries: answers.reduce((sum, [, , , pending]) => sum + pending, 0),
      ...oldestWaits(
        {
          arrived: arrivalAt(earliest(answers.map(([, , place]) => place))),
          due: earliest(answers.map(([, , , , due]) => due)),
        },
        Number(answers[0]?.[0]),
      ),
    };
  }

  get #place(): { readonly base: string; readonly key: string } {
    return { base: this.#calls.keys.nodes, key: this.#calls.keys.nodes };
  }
}

function earliest(times: readonly (string | null)[]): number | undefined {
  const known = times.filter((time) => time !== null).map(Number);
  return known.length === 0 ? undefined : Math.min(...known);
}
