import { TaskNotCancelableError, TaskNotFoundError } from '../../errors/spec-errors.js';
import type { JsonObject } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import { isTerminal } from '../../model/task-state.js';
import type { Scope, TaskKey } from '../../store/task-key.js';
import type { StoredTask } from '../../store/task-storage.js';
import { USAGE_EXTENSION } from '../../task/token-usage.js';
import type { EngineContext } from './engine-context.js';
import { endFromOutside } from './outside-end.js';
import type { RunningTurns } from './running-turns.js';
import { TurnWaiter } from './turn-waiter.js';
import { storageStalledError } from './unavailable-errors.js';

/**
 * The share of the storage time limit that remains after the grace, because the caller has waited for the agent
 * already.
 */
const STORAGE_SHARE = 0.25;

/** A CancelTask call in progress. */
interface CancelCall {
  readonly scope: Scope;
  readonly taskId: string;
  readonly metadata: JsonObject | undefined;
  /** True once the caller has an answer. */
  late: boolean;
  /** True once the storage has the request. An end that is found later is then the answer. */
  requested: boolean;
  waiter: TurnWaiter | undefined;
}

/** Cancels tasks, also those that run in other processes or in none (Spec §3.1.5). */
export class Cancellation {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;

  constructor(context: EngineContext, turns: RunningTurns) {
    this.#context = context;
    this.#turns = turns;
  }

  /**
   * Resolves to the task in its terminal state. That is not CANCELED if the agent ended it first.
   * @throws TaskNotFoundError, TaskNotCancelableError; and UNAVAILABLE if the storage takes too long.
   */
  cancel(scope: Scope, taskId: string, metadata: JsonObject | undefined): Promise<Task> {
    const { clock, limits, feeds } = this.#context;
    const longestMs = limits.cancelGraceMs + limits.storagePatienceMs * STORAGE_SHARE;
    return new Promise((resolve, reject) => {
      const call: CancelCall = {
        scope,
        taskId,
        metadata: mergeableMetadata(metadata),
        late: false,
        requested: false,
        waiter: undefined,
      };
      const stopTimer = clock.after(longestMs, () => {
        call.late = true;
        if (call.waiter) feeds.detach(call.waiter);
        reject(storageStalledError());
      });
      this.#cancel(call).then(resolve, reject).finally(stopTimer);
    });
  }

  async #cancel(call: CancelCall): Promise<Task> {
    if (call.late) throw storageStalledError();
    const { scope, taskId, metadata } = call;
    const { storage, feeds, clock, limits } = this.#context;
    const key = { scope, id: taskId };
    const request = metadata ? { metadata } : {};
    const waiter = feeds.attach(new TurnWaiter(key, 0));
    call.waiter = waiter;
    let stopTimer: (() => void) | undefined;
    try {
      const outcome = await storage.requestCancel(scope, taskId, request);
      if (outcome.kind === 'not-found') throw new TaskNotFoundError(taskId);
      if (outcome.kind === 'terminal') {
        if (call.requested) return (await this.#read(key)).task;
        throw new TaskNotCancelableError(taskId);
      }
      call.requested = true;
      // After a suspension of the process, its turn may run longer than its lease.
      const turn = this.#turns.of(key);
      const arriving = turn ? undefined : this.#turns.arriving(key);
      if (!turn && outcome.stored) return await this.#cancelNow(outcome.stored, call, 'idle');
      turn?.cancel(request);
      // A turn of this process always ends in time. The process of another turn may have died.
      const left =
        turn?.whenEnded ??
        new Promise<void>((resolve) => {
          stopTimer = clock.after(limits.cancelGraceMs, resolve);
        });
      const arrived = arriving?.then(() => 'arrived' as const);
      const ended = await Promise.race([waiter.outcome, left, ...(arrived ? [arrived] : [])]);
      // The turn has arrived here, or it left its task open just before the request reached it.
      if (ended === 'arrived' || (turn && !ended)) return await this.#cancel(call);
      if (ended?.task) return ended.task;
      const stored = await this.#read(key);
      if (isTerminal(stored.task.status.state)) return stored.task;
      return await this.#cancelNow(stored, call, 'force');
    } finally {
      stopTimer?.();
      feeds.detach(waiter);
    }
  }

  async #read({ scope, id }: TaskKey): Promise<StoredTask> {
    const stored = await this.#context.storage.task(scope, id);
    if (!stored) throw new TaskNotFoundError(id);
    return stored;
  }

  /** Reads the task again after a conflict with another writer. */
  async #cancelNow(stored: StoredTask, call: CancelCall, authority: 'idle' | 'force'): Promise<Task> {
    const status = { state: 'TASK_STATE_CANCELED' as const };
    const ended = await endFromOutside(this.#context, stored, { status, metadata: call.metadata, authority });
    return ended ?? this.#cancel(call);
  }
}

/** Returns the metadata to merge into the task, without token counts, which callers may not write. */
function mergeableMetadata(metadata: JsonObject | undefined): JsonObject | undefined {
  if (metadata === undefined || !(USAGE_EXTENSION in metadata)) return metadata;
  const { [USAGE_EXTENSION]: _, ...others } = metadata;
  return others;
}
