import { PARTITIONS } from 'parley-a2a/storage-engine';
import { RedisKeys } from './redis-keys.js';
import type { RedisScript } from './redis-script.js';
import { type Look, type RedisScripts, redisScripts } from './redis-scripts.js';

/** The part of the connection that the storage uses. */
export interface ScriptRunner {
  readonly isCluster: boolean;
  /**
   * Runs a script on the server that has its keys.
   * @throws StorageError if it fails, or does not answer in time. It may have run.
   */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  close(): Promise<void>;
  /** Calls a watcher with the number of scripts of each batch. Absent if each script is sent on its own. */
  watch?(watcher: (calls: number) => void): () => void;
}

/** The reply of a script: texts, numbers, `null`, and lists of them. The caller gives its type. */
type Reply = unknown;

/** The scripts of a storage on its connection, with the names of its keys. */
export class RedisCalls {
  readonly keys: RedisKeys;
  readonly runner: ScriptRunner;
  readonly #scripts: RedisScripts;

  /** `time`: Lua for the storage's time; tests replace it. */
  constructor(runner: ScriptRunner, options: { readonly prefix: string; readonly time?: string | undefined }) {
    this.runner = runner;
    this.keys = new RedisKeys(options.prefix);
    this.#scripts = redisScripts(options.time);
  }

  /** Runs a script on one key of a partition. `ARGV[1]` is the prefix of all keys of the partition. */
  async run<A extends Reply>(
    script: keyof RedisScripts['one'],
    { base, key }: { readonly base: string; readonly key: string },
    args: readonly (string | number)[],
  ): Promise<A> {
    return (await this.runner.run(this.#scripts.one[script], [key], [base, ...args])) as A;
  }

  /**
   * Runs a script for all partitions. Returns the replies in the order of the partitions. One server needs one script.
   */
  async everywhere<A extends Reply>(look: Look, args: readonly (string | number)[]): Promise<readonly A[]> {
    const base = this.keys.base(0);
    if (!this.runner.isCluster) {
      const answers = await this.runner.run(this.#scripts.every[look], [this.keys.count(0)], [base, ...args]);
      return answers as readonly A[];
    }
    return Promise.all(
      Array.from({ length: PARTITIONS }, (_, partition) =>
        this.run<A>(look, { base: this.keys.base(partition), key: this.keys.count(partition) }, args),
      ),
    );
  }
}
