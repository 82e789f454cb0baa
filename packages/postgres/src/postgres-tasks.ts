import {
  type Clock,
  type Commit,
  type Committed,
  type HeadChange,
  isTerminal,
  parseCancel,
  type QuestionRows,
  type SharedTables,
  type StoredTask,
  type TaskKey,
  type TaskQuestion,
} from 'parley-a2a/storage-engine';
import {
  byPlace,
  type Changed,
  changeHeldTurns,
  changeTasks,
  type HeldChange,
  type HeldTurnRow,
  removeTask,
} from './change-tasks.js';
import { byKey, type Created, createTasks, type NewTask, newTaskOf } from './create-tasks.js';
import { GroupCommit } from './group-commit.js';
import { loadRows, type PostgresHead } from './load-rows.js';
import { putKey } from './message-keys.js';
import { PostgresError } from './postgres-error.js';
import { keepsVersion, keptHolder, type PreparedChange, preparedChange } from './prepared-change.js';
import { putConfig } from './push-queues.js';
import { type ReadSources, readTask } from './read-tasks.js';
import type { PostgresTables } from './tables.js';

const UNIQUE_VIOLATION = '23505';
const MOVED = { kind: 'moved' } as const;

/** Rolls a transaction back because one of its rows has changed. */
class MovedError extends Error {}

/** The dependencies of the tasks. */
interface PostgresTasksOptions {
  readonly clock: Clock;
  readonly tables: PostgresTables;
  readonly sources: ReadSources;
  readonly onCommit: (calls: number) => void;
}

/**
 * The tables of tasks for the engine. Waiting changes share a statement. A change of an existing task with a push
 * configuration or an idempotency key has its own transaction.
 */
export class PostgresTasks implements SharedTables<PostgresHead> {
  readonly #tables: PostgresTables;
  readonly #sources: ReadSources;
  readonly #creates: GroupCommit<NewTask, Created>;
  readonly #changes: GroupCommit<PreparedChange, Changed>;
  readonly #renewals: GroupCommit<HeldChange, HeldTurnRow>;

  constructor({ clock, tables, sources, onCommit }: PostgresTasksOptions) {
    this.#tables = tables;
    this.#sources = sources;
    this.#creates = new GroupCommit<NewTask, Created>({
      clock,
      run: (tasks) => createTasks(tables, tasks),
      order: byKey,
      bytesOf: ({ event, message }) => event.length + (message?.length ?? 0),
      onCommit,
    });
    this.#changes = new GroupCommit<PreparedChange, Changed>({
      clock,
      run: (changes) => changeTasks(tables, changes),
      order: byPlace,
      bytesOf: ({ length }) => length,
      onCommit,
    });
    this.#renewals = new GroupCommit<HeldChange, HeldTurnRow>({
      clock,
      run: (renewals) => changeHeldTurns(tables.urgent, renewals),
      order: byPlace,
      bytesOf: () => 0,
      onCommit: () => {},
    });
  }

  load(question: TaskQuestion): Promise<QuestionRows<PostgresHead>> {
    return loadRows(this.#tables, this.#sources.scopes, question);
  }

  async commit({ change }: Commit<PostgresHead>): Promise<Committed<PostgresHead>> {
    const { before, create, key, config } = change;
    if (before === undefined) return create === undefined ? MOVED : this.#create(change, create.task);
    const held = this.#heldChange(change, before);
    if (held !== undefined) return this.#changeHeld(held, change, before);
    const prepared = preparedChange(this.#sources.scopes, change, before);
    const changed =
      key === undefined && config === undefined
        ? await this.#changes.do(prepared)
        : await this.#changeWithKey(change, prepared);
    if (changed === undefined) return MOVED;
    return { kind: 'committed', head: headAfter(change, before, changed), isDue: changed.isDue };
  }

  remove({ scope }: TaskKey, { pk, version }: PostgresHead): Promise<boolean> {
    return removeTask(this.#tables, { pk, part: this.#sources.scopes.of(scope).part, version });
  }

  readTask(task: TaskKey): Promise<StoredTask | undefined> {
    return readTask(this.#sources, task);
  }

  async #create(
    change: HeadChange<PostgresHead>,
    task: Parameters<typeof newTaskOf>[2],
  ): Promise<Committed<PostgresHead>> {
    const row = newTaskOf(this.#sources.scopes, change, task);
    let created: Created | undefined;
    try {
      created = await this.#creates.do(row);
    } catch (error) {
      if (!(error instanceof PostgresError) || error.sqlState !== UNIQUE_VIOLATION) throw error;
    }
    if (created === undefined) return MOVED;
    const { pk, now } = created;
    const { seq, epoch, turns, began, queue, lease } = change;
    const head: PostgresHead = {
      pk,
      version: 0,
      seq,
      epoch,
      turns,
      began,
      queue,
      state: task.status.state,
      contextId: task.contextId,
      hasEnded: row.ended,
      holder: lease ? { turn: lease.turn, node: lease.node, leaseEnd: now + lease.leaseMs } : undefined,
    };
    return { kind: 'committed', head, isDue: change.config !== undefined };
  }

  /** Returns the change for the statement of held turns, if nothing else changes. */
  #heldChange(change: HeadChange<PostgresHead>, before: PostgresHead): HeldChange | undefined {
    const { task, epoch, lease, counts, checkpoint } = change;
    const { holder, pk } = before;
    const isOther = change.append ?? change.adds ?? change.drops ?? change.cancel ?? change.config ?? change.key;
    if (holder === undefined || isOther !== undefined || epoch !== before.epoch || lease === null) return undefined;
    if (lease !== undefined && lease.turn !== holder.turn) return undefined;
    return {
      n: 0,
      ...{ pk, part: this.#sources.scopes.of(task.scope).part, turn: holder.turn, epoch },
      ...(lease !== undefined && { lease_ms: lease.leaseMs }),
      ...(counts !== undefined && { attempt: counts.attempts }),
      ...(checkpoint !== undefined && { checkpoint: JSON.stringify(checkpoint.value) }),
    };
  }

  async #changeHeld(
    held: HeldChange,
    { lease }: HeadChange<PostgresHead>,
    before: PostgresHead,
  ): Promise<Committed<PostgresHead>> {
    const row =
      lease === undefined ? (await changeHeldTurns(this.#tables, [held])).get(0) : await this.#renewals.do(held);
    if (row === undefined) return MOVED;
    const { leaseEnd, cancel } = row;
    const head = { ...before, holder: before.holder && { ...before.holder, leaseEnd } };
    return { kind: 'committed', head, isDue: false, ...(cancel !== null && { cancel: parseCancel(cancel) }) };
  }

  /** Locks the key before the task, in the same order as the statement that creates tasks. */
  async #changeWithKey(
    { task, key, config }: HeadChange<PostgresHead>,
    prepared: PreparedChange,
  ): Promise<Changed | undefined> {
    const scope = this.#sources.scopes.of(task.scope);
    try {
      return await this.#tables.transaction(async (tables) => {
        if (key !== undefined) {
          const value = { taskId: task.id, turn: key.turn };
          if (!(await putKey(tables, scope, { key: key.key, value, before: key.before }))) throw new MovedError();
        }
        const changed = (await changeTasks(tables, [prepared])).get(0);
        if (changed === undefined) throw new MovedError();
        if (config === undefined) return changed;
        const { pk, part } = prepared;
        const { seq, now } = changed;
        const { id } = config.config;
        const text = JSON.stringify(config.config);
        // Records committed in the meantime are before the message.
        await putConfig(tables, { pk, part, seq }, { id, config: text, position: seq, now });
        return { ...changed, isDue: true };
      });
    } catch (error) {
      if (error instanceof MovedError) return undefined;
      throw error;
    }
  }
}

/** Returns the head of a task after a change. */
function headAfter(change: HeadChange<PostgresHead>, before: PostgresHead, { seq, began, now }: Changed): PostgresHead {
  const { epoch, turns, queue, lease, append } = change;
  const state = append?.head.status.state ?? before.state;
  return {
    ...before,
    version: keepsVersion(change, before) ? before.version : before.version + 1,
    seq,
    epoch,
    turns,
    began,
    queue,
    state,
    hasEnded: before.hasEnded || (append !== undefined && isTerminal(state)),
    holder: lease ? { turn: lease.turn, node: lease.node, leaseEnd: now + lease.leaseMs } : keptHolder(change, before),
  };
}
