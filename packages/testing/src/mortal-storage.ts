import type { JsonValue, StreamResponse } from 'parley-a2a';
import type { TaskStorage } from 'parley-a2a/server';
import type { Acceptance, Append, AppendOutcome, HeldTurn, TaskKey, WakeupListener, Wakeups } from 'parley-a2a/storage';
import { agentCheckpoint, type Intercept, interceptedStorage } from 'parley-a2a/testing-kit';

/** A commit of the process. */
export interface Commit {
  readonly key: TaskKey;
  readonly events: readonly StreamResponse[];
  readonly checkpoint: JsonValue | undefined;
}

/** The access of one process to a storage that outlives it. */
interface MortalStorage {
  readonly storage: TaskStorage;
  /** Disconnects the process: no call reaches the storage, and no call resolves. */
  die(): void;
  readonly isDead: boolean;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * Connects a process to a storage. `committed` is called after each commit and before its result is returned. If the
 * process dies there, it does not know of the commit.
 */
export function mortalStorage(shared: TaskStorage, committed: (commit: Commit) => void): MortalStorage {
  let isDead = false;
  const wakeups = new MortalWakeups(shared.wakeups, () => isDead);
  const intercept: Intercept = async (call, args, run) => {
    if (isDead) return never();
    const answer: unknown = await run();
    if (isDead) return never();
    if (call === 'append') commitOfAppend(args[0] as Append, answer as AppendOutcome);
    if (call === 'accept') commitOfAcceptance(args[0] as Acceptance);
    if (call === 'saveCheckpoint' && answer === true) commitOfCheckpoint(args[0] as HeldTurn, args[1] as JsonValue);
    return isDead ? never() : answer;
  };
  const storage = interceptedStorage(shared, intercept, { shared: true, wakeups });

  /** Reports the append of a turn, because a storage of one process does not. A shared one does. */
  function commitOfAppend(append: Append, outcome: AppendOutcome): void {
    if (outcome.kind !== 'appended') return;
    const { key, records, checkpoint, authority } = append;
    committed({ key, events: records.map(({ event }) => event), checkpoint });
    if (typeof authority === 'number') shared.wakeups.taskChanged(key);
  }

  function commitOfCheckpoint({ key }: HeldTurn, checkpoint: JsonValue): void {
    committed({ key, events: [], checkpoint: agentCheckpoint(checkpoint) });
  }

  function commitOfAcceptance({ scope, task }: Acceptance): void {
    if (!('create' in task)) return;
    committed({ key: { scope, id: task.create.id }, events: [{ task: task.create }], checkpoint: undefined });
  }

  return {
    storage,
    die: () => {
      isDead = true;
    },
    get isDead() {
      return isDead;
    },
  };
}

/** Passes wake-ups on only while the process lives. */
class MortalWakeups implements Wakeups {
  readonly #shared: Wakeups;
  readonly #isDead: () => boolean;

  constructor(shared: Wakeups, isDead: () => boolean) {
    this.#shared = shared;
    this.#isDead = isDead;
  }

  subscribe(listener: Partial<WakeupListener>): () => void {
    const tellIfAlive = (tell: () => void): void => {
      if (!this.#isDead()) tell();
    };
    return this.#shared.subscribe({
      taskChanged: (key) => tellIfAlive(() => listener.taskChanged?.(key)),
      workReady: (agent) => tellIfAlive(() => listener.workReady?.(agent)),
      cancelAsked: (key) => tellIfAlive(() => listener.cancelAsked?.(key)),
      deliveryReady: (agent) => tellIfAlive(() => listener.deliveryReady?.(agent)),
    });
  }

  taskChanged(key: TaskKey): void {
    if (!this.#isDead()) this.#shared.taskChanged(key);
  }

  workReady(agent: string): void {
    if (!this.#isDead()) this.#shared.workReady(agent);
  }

  cancelAsked(key: TaskKey): void {
    if (!this.#isDead()) this.#shared.cancelAsked(key);
  }

  deliveryReady(agent: string): void {
    if (!this.#isDead()) this.#shared.deliveryReady(agent);
  }
}
