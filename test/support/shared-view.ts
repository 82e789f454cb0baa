import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';

/** A process as its storage sees it. */
export interface StorageClient {
  readonly dead: boolean;
}

/**
 * A storage as a process sees it that shares it with others. Once that process is dead, its calls neither happen nor are
 * answered; only its appends still arrive, as those of a zombie would.
 */
export function onSharedStorage(storage: TaskStorage, client: StorageClient = { dead: false }): TaskStorage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'shared') return true;
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) =>
        client.dead && name !== 'append' ? new Promise(() => {}) : Reflect.apply(member, target, args);
    },
  });
}
