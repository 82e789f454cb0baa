import type { ChainableCommander } from 'ioredis';
import type { Clock } from 'parley-a2a/storage-engine';
import type { ScriptRunner } from './redis-calls.js';
import type { RedisClient } from './redis-clients.js';
import { isUnknownScript } from './redis-fault.js';
import type { RedisScript } from './redis-script.js';

/** The connection that sends the batches. */
interface BatchConnection extends ScriptRunner {
  /**
   * Runs commands.
   * @throws StorageError if one fails, or an answer does not come in time.
   */
  call<T>(commands: (client: RedisClient) => Promise<T>): Promise<T>;
}

type Arguments = readonly (string | number)[];

/** A script that waits for its batch. */
interface Waiting {
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: Arguments;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of scripts, and of bytes, in one batch. */
const BATCH_CALLS = 256;
const BATCH_BYTES = 1_048_576;

/**
 * Sends the scripts of one tick together, in the order of the calls. The server also commits them together: with
 * `appendfsync always` they share one fsync. In a cluster each script is sent on its own, because its server may
 * change.
 */
export class ScriptPipeline implements ScriptRunner {
  readonly isCluster: boolean;
  readonly #connection: BatchConnection;
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #watchers = new Set<(calls: number) => void>();
  /** Scripts that the server probably has cached. */
  readonly #known = new Set<string>();
  #waiting: Waiting[] = [];
  #bytes = 0;

  constructor(connection: BatchConnection, clock: Pick<Clock, 'soon'>) {
    this.isCluster = connection.isCluster;
    this.#connection = connection;
    this.#clock = clock;
  }

  run(script: RedisScript, keys: readonly string[], args: Arguments): Promise<unknown> {
    if (this.isCluster) return this.#connection.run(script, keys, args);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ script, keys, args, resolve, reject });
      for (const arg of args) this.#bytes += typeof arg === 'string' ? arg.length : 8;
      if (this.#waiting.length === 1) this.#clock.soon(() => this.#send());
      else if (this.#waiting.length >= BATCH_CALLS || this.#bytes >= BATCH_BYTES) this.#send();
    });
  }

  /** Calls the watcher with the number of scripts of each batch. The returned function removes the watcher. */
  watch(watcher: (calls: number) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #send(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#bytes = 0;
    void this.#exchange(batch);
  }

  async #exchange(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#connection.call(async (client) => {
        const pipeline = client.pipeline();
        for (const waiting of batch) this.#add(pipeline, waiting);
        const found = (await pipeline.exec()) ?? [];
        // No script of the batch was executed: the connection has failed, or the server accepts no writes.
        const failures = found.flatMap(([error]) => (error === null || isUnknownScript(error) ? [] : [error]));
        if (failures.length === batch.length) throw failures[0];
        return found;
      });
      for (const [at, waiting] of batch.entries()) this.#settle(waiting, answers[at]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    for (const watcher of this.#watchers) watcher(batch.length);
  }

  /** The first call of a script sends its text, so that no later call overtakes it. */
  #add(pipeline: ChainableCommander, { script, keys, args }: Waiting): void {
    if (this.#known.has(script.sha)) {
      pipeline.evalsha(script.sha, keys.length, ...keys, ...args);
    } else {
      this.#known.add(script.sha);
      pipeline.eval(script.lua, keys.length, ...keys, ...args);
    }
  }

  #settle(
    { script, keys, args, resolve, reject }: Waiting,
    answer: readonly [Error | null, unknown] | undefined,
  ): void {
    const [error, value] = answer ?? [new Error('no answer'), undefined];
    if (error === null) {
      resolve(value);
    } else if (isUnknownScript(error)) {
      // The server has lost its cached scripts, and executed nothing.
      this.#known.clear();
      this.#connection.run(script, keys, args).then(resolve, reject);
    } else {
      this.#connection.call(() => Promise.reject(error)).then(resolve, reject);
    }
  }
}
