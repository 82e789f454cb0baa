import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import type { Clock } from '../../packages/parley/src/runtime/clock.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { type Logger, silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisConnection } from '../../packages/redis/src/storage/redis-connection.js';
import { redisSettings } from '../../packages/redis/src/storage/redis-options.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { RedisWakeups } from '../../packages/redis/src/storage/redis-wakeups.js';
import { ScriptPipeline } from '../../packages/redis/src/storage/script-pipeline.js';

/** Lua for the time of the test. Each call passes it in the name of its second key. */
const TEST_TIME = `return tonumber(string.match(KEYS[2], '%d+$'))`;

/** Storages on one server, each with its own keys, that use the clock of a test. */
export class RedisStorages {
  readonly #url: string;
  #opened = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** The prefix of the keys of the last opened storage. */
  get prefix(): string {
    return `test${this.#opened}:`;
  }

  /** Opens an empty storage, or with `prefix` that of an earlier call, as another process. */
  async open(
    clock: Clock,
    {
      eventLogBytes,
      logger = silentLogger,
      prefix = this.#nextPrefix(),
      before,
    }: {
      readonly eventLogBytes?: number;
      readonly logger?: Logger;
      readonly prefix?: string;
      /** Runs before each script of the storage. */
      readonly before?: () => Promise<void>;
    } = {},
  ): Promise<TaskStorage> {
    const given = { clock: systemClock, ids: systemIds, logger: silentLogger };
    const settings = redisSettings({ url: this.#url, prefix, ...given });
    const connection = await RedisConnection.open(settings);
    const pipeline = new ScriptPipeline(connection, systemClock);
    return new RedisStorage({
      runner: {
        isCluster: connection.isCluster,
        run: async (script, [key = '', ...keys], args) => {
          if (before !== undefined) await before();
          return pipeline.run(script, [key, `${key.slice(0, key.indexOf('}') + 1)}${clock.now()}`, ...keys], args);
        },
        ...(!connection.isCluster && { watch: (watcher) => pipeline.watch(watcher) }),
        close: () => pipeline.close(),
      },
      run: (commands) => connection.call(commands),
      prefix,
      clock,
      logger,
      durability: 'process',
      wakeups: new RedisWakeups(connection),
      time: TEST_TIME,
      scanMs: 0,
      ...(eventLogBytes !== undefined && { eventLogBytes }),
    });
  }

  #nextPrefix(): string {
    this.#opened += 1;
    return this.prefix;
  }
}
