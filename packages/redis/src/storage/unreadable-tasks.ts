import { type Logger, type TaskKey, ToldTasks } from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import type { TaskContent } from './task-texts.js';

/** Claimed turns whose texts cannot be read. They are removed from the queue, and their tasks are logged. */
export class UnreadableTasks extends ToldTasks {
  readonly #calls: RedisCalls;

  constructor(calls: RedisCalls, logger: Logger) {
    super(logger);
    this.#calls = calls;
  }

  /** Reads data of a task that was just claimed. If that fails, the turn is excluded from further claims. */
  async readOrSetAside<R>(key: TaskKey, [fields]: TaskContent, read: () => R): Promise<R | undefined> {
    try {
      return read();
    } catch (error) {
      const place = this.#calls.keys.ofTask(key);
      await this.#calls.run('setAside', place, [place.name, place.agent, fields[0]]);
      this.note(key, error);
      return undefined;
    }
  }
}
