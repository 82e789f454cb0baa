import { A2AError } from '../../../packages/parley/src/errors/a2a-error.js';
import type { Message } from '../../../packages/parley/src/model/message.js';
import type { StreamResponse } from '../../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import type { ClientCall, Operation, Shown } from '../checker/history.js';
import { monotonic } from './monotonic.js';

/** A call that is being recorded. */
export class RecordedCall implements ClientCall {
  readonly id: string;
  readonly operation: Operation;
  readonly agent: string;
  readonly startedAt = monotonic();
  readonly shown: Shown[] = [];
  #lastEventId: string | undefined;
  taskId: string | undefined;
  declare readonly messageId?: string;
  declare readonly after?: number;
  declare readonly configId?: string | undefined;
  declare endedAt?: number;
  outcome: ClientCall['outcome'] = 'unknown';
  declare error?: string;

  constructor(id: string, { operation, agent, ...more }: CallFacts) {
    this.id = id;
    this.operation = operation;
    this.agent = agent;
    this.taskId = more.taskId;
    Object.assign(this, more);
    if (more.after !== undefined) this.#lastEventId = String(more.after);
  }

  /** Records an event of a stream, with the event number that the stream has reached. */
  event(event: StreamResponse, lastEventId: string | undefined): void {
    const at = monotonic();
    if (event.message !== undefined) {
      this.shown.push({ kind: 'reply', at, message: event.message });
      return;
    }
    const seq = Number(lastEventId);
    if (event.task !== undefined) {
      const { task } = event;
      this.taskId ??= task.id;
      // A client that lost its position reads the task instead, and that event has no number.
      const isNumbered = lastEventId !== undefined && lastEventId !== this.#lastEventId;
      this.#lastEventId = lastEventId;
      this.shown.push(
        isNumbered ? { kind: 'snapshot', at, taskId: task.id, seq, task } : { kind: 'task', at, taskId: task.id, task },
      );
      return;
    }
    this.#lastEventId = lastEventId;
    const { taskId } = event.statusUpdate !== undefined ? event.statusUpdate : event.artifactUpdate;
    this.taskId ??= taskId;
    this.shown.push({ kind: 'event', at, taskId, seq, event });
  }

  task(task: Task): void {
    this.taskId ??= task.id;
    this.shown.push({ kind: 'task', at: monotonic(), taskId: task.id, task });
  }

  recordList(tasks: readonly Task[]): void {
    const at = monotonic();
    for (const task of tasks) this.shown.push({ kind: 'listed', at, taskId: task.id, task });
  }

  reply(message: Message): void {
    this.shown.push({ kind: 'reply', at: monotonic(), message });
  }

  /** Ends the call, unless it has an outcome already. */
  end(outcome: ClientCall['outcome'], error?: unknown): void {
    this.endedAt = monotonic();
    this.outcome = outcome;
    if (error !== undefined) this.error = error instanceof A2AError ? `${error.code}: ${error.message}` : String(error);
  }
}

/** The properties of a call at its start. */
export interface CallFacts {
  readonly operation: Operation;
  readonly agent: string;
  readonly taskId?: string;
  readonly messageId?: string;
  readonly after?: number;
  readonly configId?: string;
}

/** Records all calls of all clients. */
export class Recorder {
  readonly calls: RecordedCall[] = [];

  begin(facts: CallFacts): RecordedCall {
    const call = new RecordedCall(String(this.calls.length + 1), facts);
    this.calls.push(call);
    return call;
  }
}
