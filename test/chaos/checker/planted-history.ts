import type { Message } from '../../../packages/parley/src/model/message.js';
import type { TaskState } from '../../../packages/parley/src/model/task-state.js';
import type { DeliveryQueue } from '../../../packages/parley/src/store/push-storage.js';
import { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../../packages/parley/src/task/task-builder.js';
import type { AgentRun, Arrival, ClientCall, History, ReplicaLife, Shown, StoredLog } from './history.js';

export const TASK = 't1';
const CONTEXT = 'c1';
export const CONFIG = 'with-m1';
/** Count of chunks of the run. */
const CHUNKS = 3;

function time(seq: number): string {
  return new Date(1_800_000_000_000 + seq).toISOString();
}

/** A message of a client. */
export function userMessage(messageId: string): Message {
  return { messageId, role: 'ROLE_USER', taskId: TASK, contextId: CONTEXT, parts: [{ text: 'stream' }] };
}

/** A status record, with the text of an agent if there is one. */
export function statusRecord(seq: number, state: TaskState, text?: string, turn = 1): LogRecord {
  const message: Message | undefined =
    text === undefined
      ? undefined
      : { messageId: `a${seq}`, role: 'ROLE_AGENT', taskId: TASK, contextId: CONTEXT, parts: [{ text }] };
  const status = { state, timestamp: time(seq), ...(message !== undefined && { message }) };
  return new LogRecord(seq, turn, { statusUpdate: { taskId: TASK, contextId: CONTEXT, status } });
}

/** A chunk of the artifact of a run. */
export function chunkRecord(seq: number, run: string, count: number, turn = 1): LogRecord {
  return new LogRecord(seq, turn, {
    artifactUpdate: {
      taskId: TASK,
      contextId: CONTEXT,
      artifact: { artifactId: `log ${run}`, parts: [{ text: `[${run} ${count}] chunk` }] },
      append: count > 1,
    },
  });
}

/** The first record of a task. */
export function firstRecord(): LogRecord {
  const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: time(1) };
  return new LogRecord(1, 1, { task: { id: TASK, contextId: CONTEXT, status, history: [userMessage('m1')] } });
}

/** Returns the log of these records, with the task that results from them. */
export function logOf(records: readonly LogRecord[], agent = '/steady'): StoredLog {
  const [first, ...others] = records;
  if (first === undefined || first.event.task === undefined) throw new Error('a log begins with its task');
  const scope = { agent, tenant: '', owner: null };
  const task = TaskBuilder.fold(first.event.task, others);
  const seq = records.length;
  const stored = { scope, task, seq, epoch: 1, running: false, heldTurn: 0, createdAt: 0 };
  return { stored, records, floor: 1 };
}

/** Returns what a stream of these records shows. */
export function shownOf(records: readonly LogRecord[], from = 100): Shown[] {
  return records.map(({ seq, event }): Shown => {
    const at = from + seq;
    if (event.task !== undefined) return { kind: 'snapshot', at, taskId: TASK, seq, task: event.task };
    return { kind: 'event', at, taskId: TASK, seq, event };
  });
}

/**
 * A history without a fault: replica 0.0 dies while it runs a task, replica 1.0 takes over and completes it. A stream
 * showed all of it, another client got the task, and a webhook was notified.
 */
export function flawless(): History {
  const records = [
    firstRecord(),
    statusRecord(2, 'TASK_STATE_WORKING', '[0.0.1 0] begun'),
    ...Array.from({ length: CHUNKS }, (_, at) => chunkRecord(3 + at, '0.0.1', at + 1)),
    statusRecord(6, 'TASK_STATE_WORKING', '[1.0.1 0] begun'),
    ...Array.from({ length: CHUNKS }, (_, at) => chunkRecord(7 + at, '1.0.1', at + 1)),
    statusRecord(10, 'TASK_STATE_COMPLETED', '[1.0.1 4] all chunks'),
  ];
  const log = logOf(records);
  const calls: ClientCall[] = [
    {
      id: '1',
      operation: 'stream',
      agent: '/steady',
      messageId: 'm1',
      taskId: TASK,
      startedAt: 100,
      shown: shownOf(records),
      endedAt: 111,
      outcome: 'answered',
    },
    {
      id: '2',
      operation: 'get',
      agent: '/steady',
      taskId: TASK,
      startedAt: 200,
      shown: [{ kind: 'task', at: 201, taskId: TASK, task: log.stored.task }],
      endedAt: 201,
      outcome: 'answered',
    },
  ];
  const turn = { agent: '/steady', taskId: TASK, messageId: 'm1' };
  const runs: AgentRun[] = [
    { ...turn, id: '0.0.1', process: '0.0', attempt: 1, startedAt: 101, saw: 0, flushed: 4 },
    { ...turn, id: '1.0.1', process: '1.0', attempt: 2, startedAt: 106, saw: 5, flushed: 4, endedAt: 111 },
  ];
  const replicas: ReplicaLife[] = [
    { process: '0.0', endedAt: 105, stalls: [] },
    { process: '1.0', stalls: [] },
  ];
  const arrivals: Arrival[] = records.map(({ seq, text }) => ({
    at: 300 + seq,
    taskId: TASK,
    configId: CONFIG,
    seq,
    body: text,
    acknowledged: true,
  }));
  const key = { scope: log.stored.scope, id: TASK };
  const queues: DeliveryQueue[] = [{ key, configId: CONFIG, position: 10, last: 10, attempts: 0 }];
  return { logs: [log], calls, runs, replicas, arrivals, queues, restAt: 10_000 };
}

/** Changes the history so that a last record repeats the whole artifact of the last run, which no chunk had ended. */
export function saidAgain(text: (texts: string) => string): (history: History) => Partial<History> {
  return ({ logs }) => {
    const records = [...(logs[0]?.records ?? [])];
    const last = records.pop();
    const [artifact] = logOf(records).stored.task.artifacts?.slice(-1) ?? [];
    const [part] = artifact?.parts ?? [];
    if (last === undefined || artifact === undefined || part === undefined || part.text === undefined) return {};
    const whole = { ...artifact, parts: [{ text: text(part.text) }] };
    const artifactUpdate = { taskId: TASK, contextId: CONTEXT, artifact: whole, append: false, lastChunk: true };
    records.push(new LogRecord(10, 1, { artifactUpdate }), new LogRecord(11, 1, last.event));
    return { logs: [logOf(records)], calls: [], arrivals: [], queues: [] };
  };
}

/** Adds the stream of a message to a waiting task. It begins with the task at the start of the turn, under `seq`. */
export function resumedAt(seq: number): (history: History) => Partial<History> {
  return ({ logs }) => {
    const records = [
      ...(logs[0]?.records.slice(0, 1) ?? []),
      statusRecord(2, 'TASK_STATE_WORKING'),
      statusRecord(3, 'TASK_STATE_INPUT_REQUIRED', 'Which day?'),
      statusRecord(4, 'TASK_STATE_WORKING', undefined, 2),
      statusRecord(5, 'TASK_STATE_COMPLETED', undefined, 2),
    ];
    const task = logOf(records.slice(0, 4)).stored.task;
    const shown: Shown[] = [{ kind: 'snapshot', at: 300, taskId: TASK, seq, task }, ...shownOf(records.slice(3), 300)];
    const call = { id: '4', operation: 'stream', agent: '/steady', messageId: 'm2', taskId: TASK } as const;
    return {
      logs: [logOf(records)],
      calls: [{ ...call, startedAt: 300, shown, endedAt: 400, outcome: 'answered' }],
      runs: [],
      arrivals: [],
      queues: [],
    };
  };
}
