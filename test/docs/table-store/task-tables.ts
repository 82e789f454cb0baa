import {
  type Acceptance,
  type AcceptedTurn,
  type AppendedHead,
  type CancelRequest,
  type Holder,
  isTerminal,
  type JsonValue,
  type LocalTasks,
  type LocalTurn,
  LogRecord,
  mergeCancels,
  nextPlace,
  type RecordPage,
  type Scope,
  statusTime,
  type Task,
  type TaskKey,
  type WrittenAppend,
} from 'parley-a2a/storage-engine';
import { nameOf, type Tables, type TaskHead, type TurnRow } from './rows.js';
import type { TaskLists } from './task-lists.js';
import type { TaskLog } from './task-log.js';

/** The tables of tasks and turns. */
export class TaskTables implements LocalTasks<TaskHead> {
  readonly page: TaskLists['page'];
  readonly abandoned: TaskLists['abandoned'];
  readonly load: TaskLists['load'];
  readonly remove: TaskLists['remove'];
  readonly #tables: Tables;
  readonly #log: TaskLog;
  readonly #lists: TaskLists;
  /** The place of the turn that came last. */
  #place = 0;

  constructor(tables: Tables, log: TaskLog, lists: TaskLists) {
    this.#tables = tables;
    this.#log = log;
    this.#lists = lists;
    this.page = lists.page.bind(lists);
    this.abandoned = lists.abandoned.bind(lists);
    this.load = lists.load.bind(lists);
    this.remove = lists.remove.bind(lists);
  }

  find({ scope, id }: TaskKey): TaskHead | undefined {
    return this.#tables.head(nameOf(scope, id));
  }

  insert(scope: Scope, task: Task, now: number): TaskHead {
    const { id, contextId, status } = task;
    const hasEnded = isTerminal(status.state);
    this.#tables.tasks.put(nameOf(scope, id), {
      name: nameOf(scope, id),
      key: { scope, id },
      contextId,
      state: status.state,
      statusTime: statusTime(status),
      createdAt: now,
      hasEnded,
      endedAt: hasEnded ? now : undefined,
      seq: 1,
      floor: 1,
      bytes: 0,
      epoch: 0,
      turns: 0,
      began: 0,
      queue: [],
      holder: undefined,
      snapshot: hasEnded ? { seq: 1, task: JSON.stringify(task) } : undefined,
    });
    const head = this.find({ scope, id }) as TaskHead;
    head.bytes = this.#log.insert(head, [new LogRecord(1, 0, { task })]);
    this.#tables.putHead(head);
    if (hasEnded) this.#lists.ended(head);
    return head;
  }

  addTurn(head: TaskHead, { turn, attempts, epoch, holder }: AcceptedTurn, call: Acceptance, now: number): void {
    this.#place = nextPlace(this.#place, now);
    const [message, caller] = [JSON.stringify(call.message), JSON.stringify(call.caller)];
    this.#tables.turns.put(`${head.name} ${turn}`, { attempts, handOvers: 0, message, caller });
    head.turns = turn;
    head.queue = [...head.queue, { turn, place: this.#place }];
    this.hold(head, { epoch, holder });
  }

  append(head: TaskHead, appended: AppendedHead, append: WrittenAppend, now: number): void {
    const { records, snapshot } = append;
    const { status } = append.head;
    const { seq, epoch, began, holder, drops } = appended;
    if (drops !== undefined) this.#drop(head, drops);
    const hasEnded = isTerminal(status.state);
    Object.assign(head, { seq, epoch, began, holder, hasEnded, endedAt: hasEnded ? now : undefined });
    head.state = status.state;
    head.statusTime = statusTime(status);
    head.bytes += this.#log.insert(head, records);
    if (snapshot !== undefined) head.snapshot = { seq, task: JSON.stringify(snapshot) };
    this.#tables.putHead(head);
    if (hasEnded) this.#lists.ended(head);
  }

  hold(head: TaskHead, { epoch, holder }: { readonly epoch: number; readonly holder: Holder | undefined }): void {
    head.epoch = epoch;
    head.holder = holder;
    this.#tables.putHead(head);
  }

  drop(head: TaskHead, turn: number): void {
    this.#drop(head, turn);
    this.#tables.putHead(head);
  }

  count(head: TaskHead, turn: number, counts: { readonly attempts: number; readonly addedHandOvers: 0 | 1 }): void {
    const { attempts, addedHandOvers } = counts;
    this.#change(head, turn, ({ handOvers }) => ({ attempts, handOvers: handOvers + addedHandOvers }));
  }

  saveCheckpoint(head: TaskHead, turn: number, checkpoint: JsonValue): void {
    this.#change(head, turn, () => ({ checkpoint: JSON.stringify(checkpoint) }));
  }

  cancelOf({ name }: TaskHead, turn: number): CancelRequest | undefined {
    return parseJson(this.#tables.turns.get(`${name} ${turn}`)?.cancel);
  }

  cancel(head: TaskHead, turn: number, request: CancelRequest): void {
    const cancel = JSON.stringify(mergeCancels(this.cancelOf(head, turn), request));
    this.#change(head, turn, () => ({ cancel }));
  }

  read(head: TaskHead): Task {
    return this.#log.read(head);
  }

  turn({ name }: TaskHead, turn: number): LocalTurn | undefined {
    const row = this.#tables.turns.get(`${name} ${turn}`);
    if (row === undefined) return undefined;
    return {
      message: JSON.parse(row.message),
      caller: JSON.parse(row.caller),
      attempts: row.attempts,
      handOvers: row.handOvers,
      checkpoint: parseJson(row.checkpoint),
      cancel: parseJson(row.cancel),
    };
  }

  *free(now: number): Generator<TaskHead, void> {
    const isFree = ({ queue, holder }: Pick<TaskHead, 'queue' | 'holder'>) =>
      queue.length > 0 && (holder === undefined || holder.leaseEnd <= now);
    const rows = this.#tables.tasks.filter(isFree);
    for (const { name } of rows.sort((a, b) => (a.queue[0]?.place ?? 0) - (b.queue[0]?.place ?? 0))) {
      const head = this.#tables.head(name);
      if (head !== undefined && isFree(head)) yield head;
    }
  }

  records(head: TaskHead, after: number, maxBytes: number): RecordPage {
    return { records: this.#log.first(head, after, maxBytes), floor: head.floor, last: head.seq };
  }

  #change({ name }: TaskHead, turn: number, change: (row: TurnRow) => Partial<TurnRow>): void {
    const row = this.#tables.turns.get(`${name} ${turn}`);
    if (row !== undefined) this.#tables.turns.put(`${name} ${turn}`, { ...row, ...change(row) });
  }

  #drop(head: TaskHead, drops: number | 'all'): void {
    for (const { turn } of head.queue)
      if (drops === 'all' || drops === turn) this.#tables.turns.delete(`${head.name} ${turn}`);
    head.queue = drops === 'all' ? [] : head.queue.filter(({ turn }) => turn !== drops);
  }
}

function parseJson<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
