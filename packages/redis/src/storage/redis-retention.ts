import { logRetentionMs, PARTITIONS, type Retention, type Swept } from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';

/** Maximum number of rows that one script deletes, to keep scripts short. */
const SLICE = 500;

/** Deletes tasks, logs and keys past their retention, partition by partition. Each script deletes one slice. */
export class RedisRetention {
  readonly #calls: RedisCalls;
  #start = 0;

  constructor(calls: RedisCalls) {
    this.#calls = calls;
  }

  async sweep(retention: Retention): Promise<Swept> {
    const ages = [retention.taskRetentionMs, logRetentionMs(retention)];
    const { keys } = this.#calls;
    const place = (partition: number) => ({ base: keys.base(partition), key: keys.count(partition) });
    const looks = await this.#calls.everywhere<0 | 1>('peekSweep', ages);
    // The next sweep begins at another partition, so that the limit starves none.
    this.#start = (this.#start + 97) % PARTITIONS;
    const distance = (partition: number) => (partition - this.#start + PARTITIONS) % PARTITIONS;
    const due = looks
      .flatMap((isDue, partition) => (isDue === 1 ? [partition] : []))
      .sort((one, other) => distance(one) - distance(other));
    const swept = { tasks: 0, records: 0, keys: 0 };
    let left = retention.limit;
    for (const partition of due) {
      for (let taken = 1; taken > 0 && left > 0; left -= taken) {
        const [tasks, records, removed] = await this.#calls.run<readonly [number, number, number]>(
          'sweep',
          place(partition),
          [...ages, Math.min(left, SLICE)],
        );
        swept.tasks += tasks;
        swept.records += records;
        swept.keys += removed;
        taken = tasks + records + removed;
      }
    }
    return { ...swept, more: left <= 0 };
  }
}
