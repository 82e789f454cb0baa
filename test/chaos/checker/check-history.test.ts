import { describe, expect, it } from 'vitest';
import type { Task } from '../../../packages/parley/src/model/task.js';
import { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { checkHistory } from './check-history.js';
import type { AgentRun, Arrival, ClientCall, History, Shown, StoredLog } from './history.js';
import { violationLine } from './history.js';
import {
  CONFIG,
  chunkRecord,
  flawless,
  logOf,
  resumedAt,
  saidAgain,
  shownOf,
  statusRecord,
  TASK,
  userMessage,
} from './planted-history.js';

/** A change of the flawless history, and the rules that it breaks. */
interface Plant {
  readonly name: string;
  readonly change: (history: History) => Partial<History>;
  readonly broken: readonly string[];
}

const rest = { endedAt: 999, outcome: 'answered' } as const;

function withLog(change: (records: LogRecord[], log: StoredLog) => StoredLog): Plant['change'] {
  return ({ logs }) => ({ logs: logs.map((log) => change([...log.records], log)) });
}

function withShown(change: (shown: Shown[]) => Shown[]): Plant['change'] {
  return ({ calls }) => ({
    calls: calls.map((call) => (call.operation === 'stream' ? { ...call, shown: change([...call.shown]) } : call)),
  });
}

function withRun(id: string, change: Partial<AgentRun>): Plant['change'] {
  return ({ runs }) => ({ runs: runs.map((run) => (run.id === id ? { ...run, ...change } : run)) });
}

function withArrivals(change: (arrivals: Arrival[]) => Arrival[]): Plant['change'] {
  return ({ arrivals }) => ({ arrivals: change([...arrivals]) });
}

function withCall(call: ClientCall): Plant['change'] {
  return ({ calls }) => ({ calls: [...calls, call] });
}

function taskOf({ logs }: History): Task {
  const task = logs[0]?.stored.task;
  if (task === undefined) throw new Error('the history has a task');
  return task;
}

/** The log without its clients, runs and notifications, ended in some way. */
function endedWith(last: LogRecord, agent = '/steady'): Plant['change'] {
  return ({ logs }) => {
    const [first] = logs[0]?.records ?? [];
    const records = first === undefined ? [] : [first, last];
    return { logs: [logOf(records, agent)], calls: [], runs: [], arrivals: [], queues: [] };
  };
}

const PLANTS: readonly Plant[] = [
  { name: 'an artifact that is said again as a whole', change: saidAgain((text) => text), broken: [] },
  {
    name: 'an artifact that is said again otherwise',
    change: saidAgain((text) => `${text}!`),
    broken: ['event of an agent is there twice', 'event of an agent is missing'],
  },
  { name: 'a stream that begins with its turn', change: resumedAt(3), broken: [] },
  {
    name: 'a stream that begins with its turn, under another number',
    change: resumedAt(2),
    broken: ['snapshot is not the log', 'event was left out'],
  },
  {
    name: 'a record is missing in the log',
    change: withLog((records, log) => ({ ...log, records: records.toSpliced(3, 1) })),
    broken: [
      'gap in the log',
      'event of an agent is missing',
      'confirmed event is lost',
      'shown event is lost',
      'shown task is not the log',
      'task is not its log',
      'push is not the log',
    ],
  },
  {
    name: 'the log ends before its task',
    change: withLog((_, log) => ({ ...log, stored: { ...log.stored, seq: 11 } })),
    broken: ['gap in the log', 'task is not its log'],
  },
  {
    name: 'the log begins with another record',
    change: withLog((records, log) => ({ ...log, records: records.with(0, statusRecord(1, 'TASK_STATE_WORKING')) })),
    broken: [
      'log without beginning',
      'snapshot is not the log',
      'shown task is not the log',
      'task is not its log',
      'push is not the log',
    ],
  },
  {
    name: 'a second terminal event',
    change: withLog((records) => logOf([...records, statusRecord(11, 'TASK_STATE_CANCELED')])),
    broken: ['record after the end', 'end without reason'],
  },
  {
    name: 'a chunk after the end',
    change: withLog((records) => logOf([...records, chunkRecord(11, '1.0.1', 5)])),
    broken: ['record after the end'],
  },
  {
    name: 'a time that goes back',
    change: withLog((records) => {
      const { event } = statusRecord(1_000, 'TASK_STATE_WORKING', '[0.0.1 0] begun');
      return logOf(records.with(1, new LogRecord(2, 1, event)));
    }),
    broken: ['time goes back', 'shown event was changed', 'push is not the log'],
  },
  {
    name: 'an earlier turn after a later one',
    change: withLog((records) => logOf(records.with(3, chunkRecord(4, '0.0.1', 2, 2)))),
    broken: ['turns out of order'],
  },
  {
    name: 'a stored task with another artifact',
    change: withLog((_, log) => ({
      ...log,
      stored: { ...log.stored, task: { ...log.stored.task, artifacts: [{ artifactId: 'x', parts: [{ text: 'y' }] }] } },
    })),
    broken: ['task is not its log'],
  },
  {
    name: 'a task that is left in WORKING',
    change: endedWith(statusRecord(2, 'TASK_STATE_WORKING')),
    broken: ['task is stuck'],
  },
  {
    name: 'a turn that holds an ended task',
    change: withLog((_, log) => ({ ...log, stored: { ...log.stored, running: true, heldTurn: 1 } })),
    broken: ['task is stuck'],
  },
  {
    name: 'a task that failed by itself',
    change: endedWith(statusRecord(2, 'TASK_STATE_FAILED', 'The agent failed to process the message.')),
    broken: ['end without reason'],
  },
  {
    name: 'a resumable task that failed because it cannot resume',
    change: endedWith(statusRecord(2, 'TASK_STATE_FAILED', 'The agent stopped and cannot resume it.')),
    broken: ['end without reason'],
  },
  {
    name: 'a task that was canceled without a request',
    change: endedWith(statusRecord(2, 'TASK_STATE_CANCELED')),
    broken: ['end without reason'],
  },
  {
    name: 'an event that was shown and is lost',
    change: ({ logs, ...history }) => {
      const records = logs[0]?.records.slice(0, 9) ?? [];
      const completed = statusRecord(9, 'TASK_STATE_COMPLETED', '[1.0.1 3] all chunks');
      return { ...history, logs: [logOf(records.with(8, completed))], arrivals: [], queues: [], runs: history.runs };
    },
    broken: ['shown event is lost', 'shown event was changed', 'shown task is not the log'],
  },
  {
    name: 'a task that was shown and is lost',
    change: () => ({ logs: [] }),
    broken: ['shown task is lost', 'acknowledged message is lost', 'confirmed event is lost'],
  },
  {
    name: 'an event with other content',
    change: withShown((shown) =>
      shown.flatMap((one, at) => (at === 3 ? shownOf([chunkRecord(4, '0.0.1', 7)]) : [one])),
    ),
    broken: ['shown event was changed'],
  },
  {
    name: 'an event that a stream repeats',
    change: withShown((shown) => shown.toSpliced(4, 0, ...shown.slice(3, 4))),
    broken: ['event was shown twice'],
  },
  {
    name: 'events that a stream swaps',
    change: withShown((shown) => [...shown.slice(0, 3), ...shown.slice(3, 5).reverse(), ...shown.slice(5)]),
    broken: ['event was left out', 'events were shown out of order'],
  },
  {
    name: 'an event that a stream leaves out',
    change: withShown((shown) => shown.toSpliced(4, 1)),
    broken: ['event was left out'],
  },
  {
    name: 'a subscription that goes on too late',
    change: (history) => {
      const call = { id: '3', operation: 'subscribe', agent: '/steady', taskId: TASK, after: 4 } as const;
      return withCall({
        ...call,
        startedAt: 300,
        shown: shownOf([...(history.logs[0]?.records ?? [])].slice(5), 300),
        ...rest,
      })(history);
    },
    broken: ['event was left out'],
  },
  {
    name: 'a snapshot of an earlier time within a stream',
    change: withShown((shown) => [...shown.slice(0, 5), ...shown.slice(0, 1), ...shown.slice(1)]),
    broken: ['shown event was taken back'],
  },
  {
    name: 'a snapshot that the log never had',
    change: withShown((shown) => {
      const [first] = shown;
      if (first?.kind !== 'snapshot') return shown;
      return shown.with(0, { ...first, task: { ...first.task, metadata: { other: true } } });
    }),
    broken: ['snapshot is not the log'],
  },
  {
    name: 'a stream that ends in the middle',
    change: withShown((shown) => shown.slice(0, 4)),
    broken: ['stream ended too early'],
  },
  {
    name: 'an answer that another client has seen newer',
    change: (history) => {
      const builder = logOf((history.logs[0]?.records ?? []).slice(0, 5)).stored.task;
      const shown: Shown[] = [{ kind: 'task', at: 401, taskId: TASK, task: builder }];
      const call = { id: '3', operation: 'get', agent: '/steady', taskId: TASK } as const;
      return withCall({ ...call, startedAt: 400, shown, ...rest })(history);
    },
    broken: ['answer is stale'],
  },
  {
    name: 'a list with an older status than shown',
    change: (history) => {
      const task = logOf((history.logs[0]?.records ?? []).slice(0, 2)).stored.task;
      const shown: Shown[] = [{ kind: 'listed', at: 401, taskId: TASK, task }];
      return withCall({ id: '3', operation: 'list', agent: '/steady', startedAt: 400, shown, ...rest })(history);
    },
    broken: ['answer is stale'],
  },
  {
    name: 'a list with a status that the log never had',
    change: (history) => {
      const task = { ...taskOf(history), status: { state: 'TASK_STATE_REJECTED' } } as Task;
      const shown: Shown[] = [{ kind: 'listed', at: 401, taskId: TASK, task }];
      return withCall({ id: '3', operation: 'list', agent: '/steady', startedAt: 400, shown, ...rest })(history);
    },
    broken: ['shown status is lost'],
  },
  {
    name: 'an event of an agent that is missing',
    change: withRun('1.0.1', { id: '1.0.2' }),
    broken: [
      'event of no run',
      'event of no run',
      'event of no run',
      'event of no run',
      'event of no run',
      'confirmed event is lost',
    ],
  },
  {
    name: 'a confirmed event that is lost',
    change: withRun('0.0.1', { flushed: 5 }),
    broken: ['confirmed event is lost'],
  },
  {
    name: 'a write of an old epoch after a newer claim',
    change: withRun('1.0.1', { saw: 4 }),
    broken: ['old epoch wrote'],
  },
  {
    name: 'two runs of one turn beside each other',
    change: (history) => ({
      ...withRun('0.0.1', { abortedAt: 140 })(history),
      replicas: history.replicas.map((life) => ({ process: life.process, stalls: [] })),
    }),
    broken: ['two runs of one turn'],
  },
  {
    name: 'a run beside its successor that no one has stopped',
    change: (history) => ({ replicas: history.replicas.map((life) => ({ process: life.process, stalls: [] })) }),
    broken: ['two runs of one turn', 'run is left'],
  },
  {
    name: 'a process that was stopped, and aborts its run too late',
    change: (history) => ({
      ...withRun('0.0.1', { abortedAt: 9_000 })(history),
      replicas: [{ process: '0.0', stalls: [{ from: 103, to: 3_000 }] }, ...history.replicas.slice(1)],
    }),
    broken: ['two runs of one turn'],
  },
  {
    name: 'a process that was stopped, and aborts its run when it wakes up',
    change: (history) => ({
      ...withRun('0.0.1', { abortedAt: 3_100 })(history),
      replicas: [{ process: '0.0', stalls: [{ from: 103, to: 3_000 }] }, ...history.replicas.slice(1)],
    }),
    broken: [],
  },
  {
    name: 'a number of an attempt that does not grow',
    change: withRun('1.0.1', { attempt: 1 }),
    broken: ['attempts out of order'],
  },
  {
    name: 'an agent that runs again although it is not resumable',
    change: ({ logs, calls, runs, queues }) => ({
      logs: logs.map((log) => logOf(log.records, '/fragile')),
      calls: calls.map((call) => ({ ...call, agent: '/fragile' })),
      runs: runs.map((run) => ({ ...run, agent: '/fragile' })),
      queues: queues.map((queue) => ({
        ...queue,
        key: { id: TASK, scope: { ...queue.key.scope, agent: '/fragile' } },
      })),
    }),
    broken: ['agent ran again'],
  },
  {
    name: 'a message in two tasks',
    change: ({ logs: [log] }) => {
      if (log === undefined) return {};
      const other = { ...log, stored: { ...log.stored, task: { ...log.stored.task, id: 't2' } } };
      return { logs: [log, other] };
    },
    broken: ['message has its effect twice', 'task is not its log'],
  },
  {
    name: 'a message that is twice in one task',
    change: withLog((records, log) => {
      const twice = logOf(records).stored.task;
      const task = { ...twice, history: [...(twice.history ?? []), userMessage('m1')] };
      return { ...log, stored: { ...log.stored, task } };
    }),
    broken: ['message has its effect twice', 'task is not its log'],
  },
  {
    name: 'two answers to one message',
    change: withCall({
      id: '3',
      operation: 'send',
      agent: '/steady',
      messageId: 'm1',
      startedAt: 100,
      shown: [{ kind: 'reply', at: 120, message: userMessage('r1') }],
      ...rest,
    }),
    broken: ['one message has two answers'],
  },
  {
    name: 'a refused message that has an effect',
    change: ({ calls }) => ({ calls: calls.map((call) => ({ ...call, shown: [], outcome: 'refused' as const })) }),
    broken: ['refused message has an effect', 'call got an error'],
  },
  {
    name: 'an acknowledged message that no task has',
    change: (history) =>
      withCall({
        id: '3',
        operation: 'send',
        agent: '/steady',
        messageId: 'm9',
        startedAt: 300,
        shown: [{ kind: 'task', at: 301, taskId: TASK, task: taskOf(history) }],
        ...rest,
      })(history),
    broken: ['acknowledged message is lost'],
  },
  {
    name: 'a cancel that was answered and undone',
    change: (history) =>
      withCall({
        id: '3',
        operation: 'cancel',
        agent: '/steady',
        taskId: TASK,
        startedAt: 300,
        shown: [{ kind: 'task', at: 301, taskId: TASK, task: taskOf(history) }],
        ...rest,
      })(history),
    broken: ['cancel was undone'],
  },
  {
    name: 'a call that a client has given up',
    change: withCall({ id: '3', operation: 'get', agent: '/steady', startedAt: 300, shown: [], outcome: 'unknown' }),
    broken: ['call got no outcome'],
  },
  {
    name: 'a task that is not found',
    change: withCall({
      id: '3',
      operation: 'get',
      agent: '/steady',
      taskId: TASK,
      startedAt: 300,
      shown: [],
      outcome: 'refused',
      error: 'TASK_NOT_FOUND: there is no such task',
    }),
    broken: ['call got an error'],
  },
  {
    name: 'an answer to a task that has ended',
    change: withCall({
      id: '3',
      operation: 'send',
      agent: '/steady',
      messageId: 'm2',
      taskId: TASK,
      startedAt: 300,
      shown: [],
      outcome: 'refused',
      error: 'UNSUPPORTED_OPERATION: the task has ended',
    }),
    broken: [],
  },
  {
    name: 'a replica that crashed by itself',
    change: ({ replicas }) => ({ replicas: replicas.map((life) => ({ ...life, ownEnd: '1' })) }),
    broken: ['replica ended by itself'],
  },
  {
    name: 'an agent that goes on without a task',
    change: withRun('1.0.1', { endedAt: 10_001 }),
    broken: ['run is left'],
  },
  {
    name: 'a notification that never came',
    change: withArrivals((arrivals) => arrivals.slice(0, 9)),
    broken: ['push is lost'],
  },
  {
    name: 'a notification that was never acknowledged',
    change: withArrivals((arrivals) => arrivals.map((one) => (one.seq === 10 ? { ...one, acknowledged: false } : one))),
    broken: ['push is lost'],
  },
  {
    name: 'a notification before the one before it',
    change: withArrivals((arrivals) => arrivals.map((one) => (one.seq === 5 ? { ...one, at: 399 } : one))),
    broken: ['push out of order'],
  },
  {
    name: 'a notification with other content',
    change: withArrivals((arrivals) => arrivals.map((one) => (one.seq === 5 ? { ...one, body: '{}' } : one))),
    broken: ['push is not the log'],
  },
  {
    name: 'a repeated notification',
    change: withArrivals((arrivals) => [...arrivals, ...arrivals.slice(3, 4).map((one) => ({ ...one, at: 500 }))]),
    broken: [],
  },
  {
    name: 'a queue that is parked',
    change: ({ queues }) => ({ queues: queues.map((queue) => ({ ...queue, parked: 'gone' })) }),
    broken: ['push is parked'],
  },
  {
    name: 'a queue that is not done',
    change: ({ queues }) => ({ queues: queues.map((queue) => ({ ...queue, position: 8 })) }),
    broken: ['push is pending'],
  },
];

describe('the checker of chaos runs', () => {
  it('finds nothing in a history without a fault', () => {
    expect(checkHistory(flawless())).toEqual([]);
  });

  it.each(PLANTS.map((plant) => [plant.name, plant] as const))('judges %s', (_name, { change, broken }) => {
    const history = flawless();
    const violations = checkHistory({ ...history, ...change(history) });
    const rules = violations.map(({ rule }) => rule);
    expect(new Set(rules)).toEqual(new Set(broken));
  });

  it('names the task, the record and the evidence', () => {
    const history = flawless();
    const [line] = checkHistory({ ...history, ...withArrivals((all) => all.slice(0, 9))(history) }).map(violationLine);
    expect(line).toBe(`push is lost: task ${TASK}, seq 10, ${CONFIG} has got no event 10 of 10`);
  });
});
