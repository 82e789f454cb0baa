import type { RecordPage, StoredTask, TaskKey, TaskProgress } from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import { headOf, type KnownHead, recordOf, storedOf, type TaskContent } from './task-texts.js';
import type { UnreadableTasks } from './unreadable-tasks.js';

/** Reads single tasks: their content and their logs. */
export class StoredTasks {
  readonly #calls: RedisCalls;
  readonly #unreadable: UnreadableTasks;

  constructor(calls: RedisCalls, unreadable: UnreadableTasks) {
    this.#calls = calls;
    this.#unreadable = unreadable;
  }

  async task(key: TaskKey): Promise<StoredTask | undefined> {
    const place = this.#calls.keys.ofTask(key);
    const answer = await this.#calls.run<readonly [string, TaskContent | null]>('readTask', place, [place.name]);
    const [now, content] = answer;
    return content === null ? undefined : this.#unreadable.required(key, () => storedOf(key, content, Number(now)));
  }

  async records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage> {
    const place = this.#calls.keys.ofTask(key);
    const bound = Number.isFinite(maxBytes) ? maxBytes : Number.MAX_SAFE_INTEGER;
    const [floor, last, elements] = await this.#calls.run<readonly [string, string, readonly string[]]>(
      'readRecords',
      place,
      [place.name, after, bound],
    );
    const first = Math.max(Number(floor), after + 1);
    const records = this.#unreadable.required(key, () => elements.map((element, at) => recordOf(first + at, element)));
    return { records, floor: Number(floor), last: Number(last) };
  }

  heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]> {
    return Promise.all(
      keys.map(async (key) => {
        const known = await this.#calls.run<KnownHead>('head', this.#calls.keys.ofTask(key), []);
        const head = headOf(known);
        return head && { seq: head.seq, state: head.state, lastTurn: head.began };
      }),
    );
  }
}
