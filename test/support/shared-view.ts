import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import type { Append, AppendOutcome, TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { FaultyWakeups, type WakeupFate } from './faulty-wakeups.js';

/** A process as its storage sees it. */
export interface StorageClient {
  /** The process has died. Only its appends still reach the storage. */
  readonly dead: boolean;
  /** The network between the process and the storage is cut: no call arrives or is answered. */
  readonly isCutOff?: boolean;
  /** The storage is away: every call fails at once. */
  readonly isFailing?: boolean;
  /** The fate of wake-ups. Default: they arrive. */
  readonly wakeups?: WakeupFate;
}

/** The view of one process on a shared storage. It publishes all appends, as a shared storage does. */
export function onSharedStorage(storage: TaskStorage, client: StorageClient = { dead: false }): TaskStorage {
  const wakeups = new FaultyWakeups(storage.wakeups, () =>
    client.dead || client.isCutOff || client.isFailing ? 'lose' : (client.wakeups ?? 'deliver'),
  );
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'shared') return true;
      if (name === 'wakeups') return wakeups;
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (client.isCutOff || (client.dead && name !== 'append')) return new Promise(() => {});
        if (client.isFailing) throw new StorageError('The storage is away');
        const answer: unknown = await Reflect.apply(member, target, args);
        if (name === 'append') publishAppend(target, args[0] as Append, answer as AppendOutcome);
        return client.isCutOff ? new Promise(() => {}) : answer;
      };
    },
  });
}

/** The memory storage itself publishes appends from outside only. */
export function publishAppend({ wakeups }: TaskStorage, { key, authority }: Append, outcome: AppendOutcome): void {
  if (outcome.kind === 'appended' && typeof authority === 'number') wakeups.taskChanged(key);
}
