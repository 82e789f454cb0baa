import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import type { JsonValue } from '../../model/json.js';
import type { Task } from '../../model/task.js';
import type { Clock } from '../../runtime/clock.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { CancelRequest, ClaimRequest, HeldTurn, Holding, ReleaseHow } from '../held-turn.js';
import type { ConfigPut, PlacedPushConfig } from '../push-storage.js';
import { type Scope, type TaskKey, taskKeyText } from '../task-key.js';
import type { Acceptance, AcceptOutcome, Append, CancelOutcome } from '../task-storage.js';
import { acceptMessage, hasRoomFor, type MessageAnswer, messageRequest } from './accept-message.js';
import { type Appended, appendRecords, appendRequest } from './append-records.js';
import { type ClaimedTurn, claimOf, claimTurns } from './claim-turns.js';
import {
  askToCancel,
  beginTurn,
  deleteTask,
  holdingOf,
  releaseTurn,
  renewTurn,
  type Standing,
  saveCheckpoint,
} from './held-turns.js';
import { RecordedChange } from './recorded-change.js';
import { repeatCall } from './repeated-calls.js';
import type {
  Committed,
  CommitWishes,
  QuestionRows,
  SharedHead,
  SharedKey,
  SharedTables,
  TaskQuestion,
} from './shared-tables.js';
import { TaskLanes } from './task-lanes.js';

/** Maximum number of cached heads of held turns in a process. */
const KNOWN = 10_000;

/** A call to the engine. */
interface Call<Head extends SharedHead, Answer> {
  readonly question: TaskQuestion;
  readonly wishes?: CommitWishes;
  readonly leaseMs?: number;
  /** The expected rows. With them, the first attempt needs no read. `text`: the text of the task's key. */
  readonly expected?: (text: string) => QuestionRows<Head> | undefined;
  readonly decide: (tables: RecordedChange<Head>, rows: QuestionRows<Head>) => Answer;
}

interface Decided<Head extends SharedHead, Answer> {
  readonly answer: Answer;
  /** The answer of the database, if the call has written something. */
  readonly committed?: Extract<Committed<Head>, { readonly kind: 'committed' }>;
  readonly rows: QuestionRows<Head>;
}

/**
 * The engine over a database that several processes share. It decides with rows that it has read or expects. The
 * database commits only if they have not changed. The holder of a turn caches the head of its task, so that most
 * appends need one round trip.
 */
export class SharedTasks<Head extends SharedHead> {
  readonly #tables: SharedTables<Head>;
  readonly #clock: Clock;
  readonly #lanes = new TaskLanes();
  /** The heads of tasks whose turn this process holds, as of its last call. */
  readonly #known = new TransientMap<string, Head>();

  constructor(tables: SharedTables<Head>, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  /** Accepts a message. Returns the answer, and whether deliveries became due. */
  async accept(
    acceptance: Acceptance,
  ): Promise<{ readonly outcome: AcceptOutcome; readonly isDue: boolean; readonly isReady: boolean }> {
    const { scope, task, message, caller, claim, idempotency } = acceptance;
    const request = messageRequest(acceptance);
    const { isNew, again, config } = request;
    const key = { scope, id: 'create' in task ? task.create.id : task.id };
    const decided = await this.#run<MessageAnswer<Head, SharedKey> | { readonly kind: 'blocked' }>({
      question: {
        task: key,
        ...(again && { sameTurn: { message, caller } }),
        ...(idempotency !== undefined && { idempotencyKey: idempotency.key }),
        ...(config !== undefined && !isNew && { configId: config.id }),
      },
      wishes: claim !== undefined && !isNew ? { task: true } : {},
      leaseMs: claim?.leaseMs ?? 0,
      // Most messages begin a task under a new key.
      expected: () => (isNew && !again ? { now: 0, isBlocked: false, head: undefined } : undefined),
      decide: (tables, rows) => {
        if (rows.isBlocked) return { kind: 'blocked' };
        const found = acceptMessage(tables, { head: rows.head, request, call: acceptance }, rows.now);
        if (isNew && found.kind === 'accepted' && rows.head !== undefined && tables.change !== undefined) {
          throw new StorageError(`The task id ${key.id} is taken`);
        }
        return found;
      },
    });
    const { answer } = decided;
    const unchanged = (outcome: AcceptOutcome) => ({ outcome, isDue: false, isReady: false });
    switch (answer.kind) {
      case 'blocked':
        throw new OwnerBlockedError();
      case 'repeated': {
        const first = answer.key.remembered;
        if (first === undefined) throw new TypeError('A reserved key has no outcome');
        return unchanged({ kind: 'repeated', first });
      }
      case 'terminal':
        return unchanged({ kind: 'terminal', state: answer.head.state });
      case 'accepted':
        return this.#accepted(acceptance, answer, decided);
      default:
        return unchanged(answer);
    }
  }

  /** Stores a task that no message created. Returns false if the id exists. */
  create(scope: Scope, task: Task): Promise<boolean> {
    const key = { scope, id: task.id };
    return this.#lanes.do(taskKeyText(key), async () => {
      const question = { task: key };
      const numbers = { seq: 1, epoch: 0, turns: 0, began: 0, queue: [] };
      const create = { task, isContextNew: false };
      const change = { task: key, before: undefined, create, ...numbers, isNewData: true };
      const committed = await this.#tables.commit({ change, question, wishes: {} });
      if (committed.kind === 'committed') return true;
      const { isBlocked } = committed.rows ?? (await this.#tables.load(question));
      if (isBlocked) throw new OwnerBlockedError();
      return false;
    });
  }

  /** Appends records to the log of a task, if the writer still has the right to. */
  async append(append: Append): Promise<Appended> {
    const request = appendRequest(append);
    const { key, after, records, authority } = append;
    const { answer, committed } = await this.#run({
      question: { task: key, tail: { after, records } },
      // Only a repeated append compares the log.
      expected: (text) => {
        const rows = typeof authority === 'number' ? this.#expected(text) : undefined;
        return rows?.head?.seq === after ? rows : undefined;
      },
      decide: (tables, rows) => appendRecords(tables, { head: rows.head, request, call: append }, rows.now),
    });
    return { ...answer, isDue: committed?.isDue === true };
  }

  async begin(held: HeldTurn, attempt: number): Promise<Holding> {
    const call = this.#callOfHeld(held, 0, (tables, { head }) => beginTurn(tables, { head, held }, attempt));
    return heldAfter(await this.#run(call));
  }

  /** Extends a lease. Does not wait for other calls to the task, so that a slow call costs no lease. */
  async renew(held: HeldTurn, leaseMs: number): Promise<Holding> {
    const call = this.#callOfHeld(held, leaseMs, (tables, { head, now }) =>
      renewTurn(tables, { head, held }, now + leaseMs),
    );
    return heldAfter(await this.#decided(taskKeyText(held.key), call));
  }

  /** Claims the first turn of a task. `turn` is undefined if the node may not claim it. */
  async claim(
    task: TaskKey,
    request: ClaimRequest,
  ): Promise<{ readonly turn?: number; readonly head?: Head; readonly more: boolean }> {
    const { answer, committed } = await this.#run({
      question: { task },
      leaseMs: request.leaseMs,
      decide: (tables, { head, now }) => {
        const take = (place: { readonly head: Head }, claimed: ClaimedTurn): number => {
          tables.hold(place.head, claimed);
          return claimed.turn;
        };
        const places = head === undefined ? [] : [{ key: task, head, bytes: 0 }];
        return claimTurns(places, { request, now, take });
      },
    });
    const [turn] = answer.claims;
    if (turn === undefined || committed === undefined) return { more: answer.more };
    return { turn, head: committed.head, more: answer.more };
  }

  async saveCheckpoint(held: HeldTurn, checkpoint: JsonValue): Promise<boolean> {
    const { answer } = await this.#run({
      question: { task: held.key },
      expected: (text) => this.#expected(text),
      decide: (tables, { head }) => saveCheckpoint(tables, { head, held }, checkpoint),
    });
    return answer;
  }

  async release(
    held: HeldTurn & { readonly attempt: number },
    how: ReleaseHow,
  ): Promise<{ readonly waiting: number; readonly isReady: boolean }> {
    const { answer } = await this.#run({
      question: { task: held.key },
      expected: (text) => this.#expected(text),
      decide: (tables, { head }) => releaseTurn(tables, { head, held, attempt: held.attempt }, how),
    });
    return answer;
  }

  async requestCancel(task: TaskKey, request: CancelRequest): Promise<CancelOutcome> {
    const { answer } = await this.#run({
      question: { task, cancel: true },
      decide: (tables, { head, now }) => askToCancel(tables, { head, request }, now),
    });
    if (answer.kind === 'not-found') return answer;
    const { head } = answer;
    if (answer.kind === 'terminal') return { kind: 'terminal', state: head.state };
    const { turn, isRunning } = answer;
    const requested = { kind: 'requested', seq: head.seq, ...(turn !== undefined && { turn }) } as const;
    if (isRunning) return requested;
    const stored = await this.#tables.readTask(task);
    return stored === undefined ? { kind: 'not-found' } : { ...requested, stored };
  }

  /** Inserts or replaces a push configuration. `isDue`: its queue is due. */
  async putConfig(
    task: TaskKey,
    config: PlacedPushConfig,
    limit: number | undefined,
  ): Promise<{ readonly result: ConfigPut; readonly isDue: boolean }> {
    const { id } = config;
    const { answer, committed } = await this.#run({
      question: { task, configId: id },
      decide: (tables, { head }): ConfigPut => {
        if (head === undefined) return 'not-found';
        if (!hasRoomFor(tables, head, { id, limit })) return 'full';
        tables.putConfig(head, { pushConfig: config }, { position: head.seq });
        return 'put';
      },
    });
    return { result: answer, isDue: committed?.isDue === true };
  }

  delete(task: TaskKey): Promise<'deleted' | 'not-found' | 'running'> {
    const attempt = async () => {
      const { head, now } = await this.#tables.load({ task });
      let found: Head | undefined;
      const outcome = deleteTask(
        head,
        (idle) => {
          found = idle;
        },
        now,
      );
      return found === undefined || (await this.#tables.remove(task, found)) ? outcome : undefined;
    };
    return this.#lanes.do(taskKeyText(task), () => this.#repeat(task, attempt));
  }

  /** Caches the head of a task whose turn this process has just claimed. */
  claimed(task: TaskKey, head: Head): void {
    this.#note(taskKeyText(task), head, true);
  }

  /** Resolves when all calls in progress have ended. */
  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  async #accepted(
    { scope, task, message, caller }: Acceptance,
    answer: Extract<MessageAnswer<Head, SharedKey>, { readonly kind: 'accepted' }>,
    { committed, rows }: Pick<Decided<Head, unknown>, 'committed' | 'rows'>,
  ): Promise<{ readonly outcome: AcceptOutcome; readonly isDue: boolean; readonly isReady: boolean }> {
    const { turn, isClaimed, isReady } = answer;
    const head = committed?.head ?? answer.head;
    const taskId = 'create' in task ? task.create.id : task.id;
    const outcome = { kind: 'accepted', taskId, turn, seq: head.seq } as const;
    // The first call, whose answer was lost, may have made deliveries due.
    const isDue = committed?.isDue ?? true;
    if (!isClaimed) return { outcome, isDue, isReady };
    const stored =
      committed !== undefined && 'create' in task
        ? { task: task.create }
        : (committed?.task ?? (await this.#tables.readTask({ scope, id: taskId })));
    if (stored === undefined) return { outcome: { kind: 'not-found' }, isDue, isReady };
    const { attempts = 1, handOvers = 0, checkpoint, cancel } = committed === undefined ? (rows.sameTurn ?? {}) : {};
    const { seq, epoch, began } = head;
    const content = { attempt: Math.max(1, attempts), handOvers, message, caller, checkpoint, cancel };
    const claim = claimOf({ scope, task: stored.task, seq }, { turn, epoch, began }, content);
    return { outcome: { ...outcome, claim }, isDue, isReady };
  }

  #callOfHeld(
    held: HeldTurn,
    leaseMs: number,
    decide: (tables: RecordedChange<Head>, rows: QuestionRows<Head>) => Standing<CancelRequest>,
  ): Call<Head, Standing<CancelRequest>> {
    return {
      question: { task: held.key, cancel: true },
      wishes: { cancel: true },
      leaseMs,
      expected: (text) => this.#expected(text),
      decide,
    };
  }

  #expected(text: string): QuestionRows<Head> | undefined {
    const head = this.#known.get(text);
    return head && { now: 0, isBlocked: false, head };
  }

  #run<Answer>(call: Call<Head, Answer>): Promise<Decided<Head, Answer>> {
    const text = taskKeyText(call.question.task);
    return this.#lanes.do(text, () => this.#decided(text, call));
  }

  async #decided<Answer>(text: string, call: Call<Head, Answer>): Promise<Decided<Head, Answer>> {
    const { question, wishes = {}, leaseMs = 0, expected, decide } = call;
    const known = expected?.(text);
    let isExpected = known !== undefined;
    let rows = known ?? (await this.#tables.load(question));
    const { task } = question;
    return this.#repeat(task, async () => {
      let tables = new RecordedChange(task, rows, { leaseMs });
      let answer = decide(tables, rows);
      if (tables.change === undefined && isExpected) {
        // A refusal needs the stored rows, not the expected ones.
        rows = await this.#tables.load(question);
        tables = new RecordedChange(task, rows, { leaseMs });
        answer = decide(tables, rows);
      }
      isExpected = false;
      const { change } = tables;
      if (change === undefined) return { answer, rows };
      const committed = await this.#tables.commit({ change, question, wishes });
      if (committed.kind === 'committed') {
        this.#note(text, committed.head, change.before === undefined);
        return { answer, committed, rows };
      }
      this.#known.delete(text);
      rows = committed.rows ?? (await this.#tables.load(question));
      return undefined;
    });
  }

  #repeat<R extends NonNullable<unknown>>({ id }: TaskKey, attempt: () => Promise<R | undefined>): Promise<R> {
    return repeatCall(this.#clock, `The task ${id}`, attempt);
  }

  /** Caches the head of a task, or removes it if no turn is held. `replaces`: the cached head is of no use. */
  #note(text: string, head: Head, replaces: boolean): void {
    const known = replaces ? undefined : this.#known.get(text);
    // A renewal may end after a later call has changed the task.
    if (known !== undefined && (known.version > head.version || known.seq > head.seq)) return;
    // The entry moves to the end of the map, so that the oldest one is the first.
    this.#known.delete(text);
    if (head.holder === undefined || head.hasEnded) return;
    this.#known.set(text, head);
    if (this.#known.size <= KNOWN) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }
}

function heldAfter({
  answer,
  committed,
}: Pick<Decided<SharedHead, Standing<CancelRequest>>, 'answer' | 'committed'>): Holding {
  return holdingOf(answer.held ? { held: true, cancel: committed?.cancel ?? answer.cancel } : answer);
}
