import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import type { Storage } from '../../packages/parley/src/store/storage.js';
import { microtasks } from './manual-clock.js';

interface Operation {
  readonly run: () => void;
  readonly fail: (error: Error) => void;
}

/**
 * Storage operations that wait until they are picked, in any order: every interleaving of commits a real store could
 * give. `view` is how one process sees it; a dead process can only go on with appends, as a zombie would.
 */
export class ScheduledStorage {
  readonly #storage: Storage;
  #operations: Operation[] = [];

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  get pending(): number {
    return this.#operations.length;
  }

  /** Runs or fails one of the operations that wait. */
  async pick(index: number, how: 'run' | 'fail' = 'run'): Promise<void> {
    const [operation] = this.#operations.splice(index % Math.max(1, this.#operations.length), 1);
    if (how === 'run') operation?.run();
    else operation?.fail(new StorageError('The disk is full'));
    await microtasks();
  }

  view(process: { readonly dead: boolean }): Storage {
    const operations = () => this.#operations;
    return new Proxy(this.#storage, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (process.dead && name !== 'append') return new Promise(() => {});
          return new Promise((resolve, reject) => {
            const run = () => resolve(Reflect.apply(member, target, args));
            operations().push({ run, fail: reject });
          });
        };
      },
    });
  }
}
