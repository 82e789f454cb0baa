import { BLOCKS, type RateAsk, type RateCounters, type RateGrant, sha256Hex } from 'parley-a2a/storage-engine';
import type { RedisConnection } from './redis-connection.js';
import { redisScript } from './redis-script.js';

/** Takes a block of one window. The key expires with the window. */
const TAKE = redisScript(`
local requests, window, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local taken = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = math.max(0, requests - taken)
local granted = math.min(left, math.max(wanted, math.floor(left / ${BLOCKS})))
if taken == 0 then
  redis.call('SET', KEYS[1], granted, 'PX', window)
elseif granted > 0 then
  redis.call('INCRBY', KEYS[1], granted)
end
return { granted, left - granted, redis.call('PTTL', KEYS[1]) }
`);

/** Rate counters in Redis. Each window has its own key, so that a cluster distributes them. */
export class RedisRateCounters implements RateCounters {
  readonly #connection: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]> {
    return Promise.all(asks.map((ask) => this.#take(ask)));
  }

  async #take({ key, requests, windowMs, wanted }: RateAsk): Promise<RateGrant> {
    // A hash, so that the key does not reveal the address or the id of the caller.
    const name = `${this.#connection.settings.prefix}rate:${(await sha256Hex(key)).slice(0, 32)}`;
    const args = [requests, Math.round(windowMs), wanted];
    const [granted, left, endsInMs] = (await this.#connection.run(TAKE, [name], args)) as [number, number, number];
    return { granted, left, endsInMs: Math.max(0, endsInMs) };
  }
}
