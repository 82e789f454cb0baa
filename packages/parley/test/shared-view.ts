import { StorageError } from '../src/errors/storage-error.js';
import { type Intercept, interceptedStorage } from '../src/store/intercepted-storage.js';
import type { Append, AppendOutcome, TaskStorage } from '../src/store/task-storage.js';
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
  const intercept: Intercept = async (call, args, run) => {
    if (client.isCutOff || (client.dead && call !== 'append')) return new Promise(() => {});
    if (client.isFailing) throw new StorageError('The storage is away');
    const answer: unknown = await run();
    if (call === 'append') publishAppend(storage, args[0] as Append, answer as AppendOutcome);
    return client.isCutOff ? new Promise(() => {}) : answer;
  };
  return interceptedStorage(storage, intercept, { shared: true, wakeups });
}

/** The memory storage itself publishes appends from outside only. */
export function publishAppend({ wakeups }: TaskStorage, { key, authority }: Append, outcome: AppendOutcome): void {
  if (outcome.kind === 'appended' && typeof authority === 'number') wakeups.taskChanged(key);
}
