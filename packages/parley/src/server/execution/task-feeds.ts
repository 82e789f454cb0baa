import type { Task } from '../../model/task.js';
import { TransientMap } from '../../runtime/transient-map.js';
import { isSameScope, type TaskKey } from '../../store/task-key.js';
import type { TaskProgress } from '../../store/task-storage.js';
import type { LogRecord } from '../../task/log-record.js';

/** A listener to the committed records of a task. */
export interface FeedListener {
  /** The task. */
  readonly key: TaskKey;
  /**
   * Called with consecutive records, in order, each exactly once. `snapshot`: the task after the last one, if the
   * commit wrote it: always at a terminal or interrupted state.
   */
  offer(records: readonly LogRecord[], snapshot: Task | undefined): void;
  /**
   * True from the start of the listener until its end. Earlier answers of the storage do not apply to it, and later
   * ones are not read for it.
   */
  readonly started: boolean;
  /** Called with the progress of the task in the storage; undefined if it was deleted. */
  look(progress: TaskProgress | undefined): void;
  /** Called when this process sends no more records. */
  shutDown(): void;
  /** Called when the commit of an interrupted or terminal state is late. */
  overdue?(): void;
}

/**
 * The listeners of all tasks in this process. A task without listeners takes no memory here. Records are delivered only
 * after their commit, so a crash cannot revoke them.
 */
export class TaskFeeds {
  /** Listeners by task id, of all scopes. Most tasks have one listener, which is stored without a set. */
  readonly #listeners = new TransientMap<string, FeedListener | Set<FeedListener>>();

  #shutDown = false;

  /** Number of watched tasks. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Adds and returns a listener. Its owner must detach it. */
  attach<Listener extends FeedListener>(listener: Listener): Listener {
    const { id } = listener.key;
    const present = this.#listeners.get(id);
    if (this.#shutDown) listener.shutDown();
    else if (present === undefined) this.#listeners.set(id, listener);
    else if (present instanceof Set) present.add(listener);
    else if (present !== listener) this.#listeners.set(id, new Set<FeedListener>([present, listener]));
    return listener;
  }

  detach(listener: FeedListener): void {
    const { id } = listener.key;
    const present = this.#listeners.get(id);
    if (present === listener) this.#listeners.delete(id);
    else if (present instanceof Set && present.delete(listener) && present.size === 0) this.#listeners.delete(id);
  }

  publish({ scope, id }: TaskKey, records: readonly LogRecord[], snapshot: Task | undefined): void {
    const present = this.#listeners.get(id);
    if (present === undefined) return;
    if (present instanceof Set) {
      for (const listener of present) {
        if (isSameScope(listener.key.scope, scope)) listener.offer(records, snapshot);
      }
    } else if (isSameScope(present.key.scope, scope)) present.offer(records, snapshot);
  }

  /** Informs the listeners of a task that the commit of its state is late. */
  overdue(key: TaskKey): void {
    for (const listener of this.#of(key)) listener.overdue?.();
  }

  /** The started listeners of a task, or of all tasks. */
  started(key?: TaskKey): readonly FeedListener[] {
    if (key !== undefined) return this.#of(key).filter(({ started }) => started);
    return this.#listeners
      .values()
      .flatMap((present) => (present instanceof Set ? [...present] : [present]))
      .filter(({ started }) => started);
  }

  #of({ scope, id }: TaskKey): readonly FeedListener[] {
    const present = this.#listeners.get(id);
    if (present === undefined) return [];
    const all = present instanceof Set ? [...present] : [present];
    return all.filter((listener) => isSameScope(listener.key.scope, scope));
  }

  /** Ends all listeners, and later ones at once. */
  shutDown(): void {
    this.#shutDown = true;
    const all = this.#listeners.values();
    this.#listeners.clear();
    for (const present of all) {
      if (present instanceof Set) for (const listener of present) listener.shutDown();
      else present.shutDown();
    }
  }
}
