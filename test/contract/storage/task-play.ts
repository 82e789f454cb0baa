import type { JsonObject } from '../../../packages/parley/src/model/json.js';
import type { Message } from '../../../packages/parley/src/model/message.js';
import type { TaskEvent } from '../../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import { isTerminal, type TaskState } from '../../../packages/parley/src/model/task-state.js';
import type { Claim, ClaimRequest, HeldTurn } from '../../../packages/parley/src/store/held-turn.js';
import type { Scope, TaskKey } from '../../../packages/parley/src/store/task-key.js';
import type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  TaskStorage,
} from '../../../packages/parley/src/store/task-storage.js';
import { LogRecord, type LogRecordExtras } from '../../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../../packages/parley/src/task/task-builder.js';
import type { Tested } from './tested-storage.js';

/** A caller of the agent `test`. */
export const ALICE: Scope = { agent: 'test', tenant: '', owner: 'alice' };
/** The lease that tests take. */
export const LEASE = { node: 'here', leaseMs: 10_000 };
/** Another process. */
export const ELSEWHERE = { node: 'there', leaseMs: 10_000 };

/** A message of a user. */
export function userMessage(messageId: string, text = messageId): Message {
  return { messageId, role: 'ROLE_USER', parts: [{ text }] };
}

/** Returns a new task. */
export function newTask(tested: Tested, id: string, more: Partial<Task> = {}): Task {
  return {
    id,
    contextId: `context of ${id}`,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestamp(tested) },
    ...more,
  };
}

/** Returns the time of the test in the form of the protocol. */
export function timestamp({ clock }: Tested): string {
  return new Date(clock.now()).toISOString();
}

/** A message with a new task, or with the task of that id. */
export function acceptance(message: Message, task: Task | string, more: Partial<Acceptance> = {}): Acceptance {
  return {
    scope: ALICE,
    message,
    caller: { extensions: [], version: '1.0' },
    task: typeof task === 'string' ? { id: task } : { create: task },
    waitingLimit: 16,
    ...more,
  };
}

/** Returns an outcome, which must be `accepted`. */
export function acceptedOf(outcome: AcceptOutcome): Extract<AcceptOutcome, { kind: 'accepted' }> {
  if (outcome.kind !== 'accepted') throw new Error(`The message was not accepted: ${outcome.kind}`);
  return outcome;
}

/** Returns the claim of an outcome, which must have one. */
export function takeClaim(outcome: AcceptOutcome): Claim {
  const { claim } = acceptedOf(outcome);
  if (claim === undefined) throw new Error('The turn was not claimed');
  return claim;
}

/** Returns the turns of a claim. */
export async function claimsOf(storage: TaskStorage, request: ClaimRequest): Promise<readonly Claim[]> {
  const { claims } = await storage.claim(request);
  return claims;
}

/** Returns the only element of a list. */
export function only<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined || list.length > 1) throw new Error(`One was expected, there are ${list.length}`);
  return first;
}

/** A step to write: an event or a state. */
export type Step = TaskEvent | TaskState | { readonly event: TaskEvent; readonly extras: LogRecordExtras };

/** Writes the log of a task like the process that holds its turn. */
export class TaskPlay {
  readonly #tested: Tested;
  readonly #builder: TaskBuilder;
  readonly scope: Scope;
  readonly id: string;
  readonly contextId: string;
  seq: number;
  turn: number;
  epoch: number;

  constructor(tested: Tested, claim: Pick<Claim, 'scope' | 'task' | 'seq'> & Partial<Pick<Claim, 'turn' | 'epoch'>>) {
    this.#tested = tested;
    this.#builder = new TaskBuilder(claim.task);
    this.scope = claim.scope;
    this.id = claim.task.id;
    this.contextId = claim.task.contextId ?? '';
    this.seq = claim.seq;
    this.turn = claim.turn ?? 0;
    this.epoch = claim.epoch ?? 0;
  }

  /** Creates a task with a running turn. */
  static async begin(tested: Tested, id: string, more: Partial<Acceptance> = {}): Promise<TaskPlay> {
    const create = newTask(tested, id, { history: [userMessage(`first of ${id}`)] });
    const outcome = await tested.storage.accept(
      acceptance(userMessage(`first of ${id}`), create, { claim: LEASE, ...more }),
    );
    return new TaskPlay(tested, takeClaim(outcome));
  }

  get key(): TaskKey {
    return { scope: this.scope, id: this.id };
  }

  get held(): HeldTurn {
    return { key: this.key, turn: this.turn, epoch: this.epoch };
  }

  get task(): Task {
    return this.#builder.view();
  }

  /** Returns the append of these steps. Does not change this writer. */
  draft(steps: readonly Step[], more: Partial<Append> = {}): Append {
    const builder = new TaskBuilder(this.#builder.view());
    const records = steps.map((step, index) => this.#record(step, this.seq + 1 + index));
    for (const record of records) builder.apply(record);
    const { head } = builder;
    return {
      key: this.key,
      authority: this.epoch,
      after: this.seq,
      records,
      head,
      ...(isTerminal(head.status.state) && { snapshot: builder.view() }),
      ...more,
    };
  }

  /** Appends steps, which must succeed. */
  async write(
    steps: readonly Step[],
    more: Partial<Append> & { readonly withSnapshot?: boolean } = {},
  ): Promise<number> {
    const { withSnapshot, ...rest } = more;
    const append = this.draft(steps, rest);
    const outcome = await this.send(withSnapshot ? { ...append, snapshot: this.whole(append) } : append);
    if (outcome.kind !== 'appended') throw new Error(`The append was refused: ${outcome.kind}`);
    return outcome.waiting;
  }

  /** Sends an append. If it succeeds, this writer continues after it. */
  async send(append: Append): Promise<AppendOutcome> {
    const outcome = await this.#tested.storage.append(append);
    if (outcome.kind === 'appended') {
      for (const record of append.records) this.#builder.apply(record);
      this.seq += append.records.length;
    }
    return outcome;
  }

  /** Returns the whole task after an append. */
  whole(append: Append): Task {
    return TaskBuilder.fold(this.#builder.view(), append.records);
  }

  #record(step: Step, seq: number): LogRecord {
    if (typeof step === 'string') return new LogRecord(seq, this.turn, this.status(step));
    return 'event' in step
      ? new LogRecord(seq, this.turn, step.event, step.extras)
      : new LogRecord(seq, this.turn, step);
  }

  status(state: TaskState, more: { readonly message?: Message; readonly metadata?: JsonObject } = {}): TaskEvent {
    const { message, metadata } = more;
    return {
      statusUpdate: {
        taskId: this.id,
        contextId: this.contextId,
        status: { state, timestamp: timestamp(this.#tested), ...(message && { message }) },
        ...(metadata && { metadata }),
      },
    };
  }

  chunk(text: string, append = true): TaskEvent {
    return {
      artifactUpdate: {
        taskId: this.id,
        contextId: this.contextId,
        artifact: { artifactId: 'a', parts: [{ text }] },
        append,
      },
    };
  }
}
