import { isInterrupted, isTerminal, type TaskState } from '../../../packages/parley/src/model/task-state.js';
import { brief, canonical, type FoldedLog } from './folded-log.js';
import type { ClientCall, Shown, Violation } from './history.js';

type LogOf = (agent: string, taskId: string) => FoldedLog | undefined;

/**
 * Checks everything that clients were shown against the logs.
 *
 * - The log has each shown event, under its number and with the same content.
 * - Each stream has its events in order and without gaps.
 * - Each answer equals the task at some record.
 * - A call that begins after another client was shown a record shows the task with that record, on any replica.
 */
export function checkClients(calls: readonly ClientCall[], logOf: LogOf): Violation[] {
  return [...calls.flatMap((call) => [...contents(call, logOf), ...sequence(call)]), ...staleness(calls, logOf)];
}

function contents(call: ClientCall, logOf: LogOf): Violation[] {
  return call.shown.flatMap((shown): Violation[] => {
    if (shown.kind === 'reply') return [];
    const { taskId } = shown;
    const log = logOf(call.agent, taskId);
    if (log === undefined)
      return [{ rule: 'shown task is lost', taskId, evidence: `${at(call)} was shown ${brief(shown)}` }];
    return difference(shown, log, call).map(({ rule, seq, evidence }) => ({
      rule,
      taskId,
      seq,
      evidence: `${at(call)} ${evidence}`,
    }));
  });
}

function difference(
  shown: Exclude<Shown, { kind: 'reply' }>,
  log: FoldedLog,
  { operation }: ClientCall,
): readonly { readonly rule: string; readonly seq?: number; readonly evidence: string }[] {
  if (shown.kind === 'event') {
    const { seq, event } = shown;
    const record = log.record(seq);
    if (record === undefined) return [{ rule: 'shown event is lost', seq, evidence: `was shown ${brief(event)}` }];
    if (canonical(record.event) === canonical(event)) return [];
    return [
      {
        rule: 'shown event was changed',
        seq,
        evidence: `was shown ${brief(event)}, the log has ${brief(record.event)}`,
      },
    ];
  }
  if (shown.kind === 'listed') {
    if (log.seqsOfStatus(shown.task) !== undefined) return [];
    return [{ rule: 'shown status is lost', evidence: `was shown ${brief(shown.task.status)}` }];
  }
  const seqs = log.seqsOfTask(shown.task);
  // The answer to a message to a waiting task is the task at the start of the turn.
  if (shown.kind === 'snapshot' && operation === 'stream' && log.seqsBefore(shown.task).includes(shown.seq)) return [];
  if (shown.kind === 'snapshot' && !seqs.includes(shown.seq)) {
    return [{ rule: 'snapshot is not the log', seq: shown.seq, evidence: `was shown ${brief(shown.task)}` }];
  }
  if (seqs.length > 0) return [];
  return [{ rule: 'shown task is not the log', evidence: `was shown ${brief(shown.task)}` }];
}

/** Checks that the numbers of a stream are consecutive, and that a finished stream has the end of its turn or task. */
function sequence(call: ClientCall): Violation[] {
  if (call.operation !== 'stream' && call.operation !== 'subscribe') return [];
  const found: Violation[] = [];
  let last = call.after;
  let state: TaskState | undefined;
  for (const shown of call.shown) {
    if (shown.kind === 'reply') return found;
    if (shown.kind !== 'event' && shown.kind !== 'snapshot') {
      state = shown.task.status.state;
      continue;
    }
    const { taskId, seq } = shown;
    const note = (rule: string) =>
      found.push({ rule, taskId, seq, evidence: `${at(call)} was shown ${seq} after ${last}` });
    if (shown.kind === 'snapshot') {
      state = shown.task.status.state;
      if (last !== undefined && seq < last) note('shown event was taken back');
    } else {
      const { event } = shown;
      if (event.statusUpdate !== undefined) state = event.statusUpdate.status.state;
      if (event.task !== undefined) state = event.task.status.state;
      if (last !== undefined && seq === last) note('event was shown twice');
      else if (last !== undefined && seq < last) note('events were shown out of order');
      else if (last !== undefined && seq > last + 1) note('event was left out');
    }
    last = seq;
  }
  const isOver = state !== undefined && (isTerminal(state) || (call.operation === 'stream' && isInterrupted(state)));
  // A stream after the last record of an ended task shows nothing.
  if (call.outcome === 'answered' && !isOver && !(call.shown.length === 0 && call.after !== undefined)) {
    const evidence = `${at(call)} ended in ${state ?? 'no state'}`;
    found.push({ rule: 'stream ended too early', taskId: call.taskId, seq: last, evidence });
  }
  return found;
}

/** A call that begins after a client was shown a record shows the task with that record, on any replica. */
function staleness(calls: readonly ClientCall[], logOf: LogOf): Violation[] {
  const shown = calls.flatMap((call) =>
    call.shown.flatMap((one) => {
      if (one.kind === 'reply') return [];
      const [seq] = rangeOf(one, logOf(call.agent, one.taskId)) ?? [];
      return seq === undefined ? [] : [{ key: `${call.agent} ${one.taskId}`, at: one.at, seq, call }];
    }),
  );
  shown.sort((one, other) => one.at - other.at);
  const asked = calls
    .filter(
      ({ operation, after }) =>
        operation === 'get' || operation === 'list' || (operation === 'subscribe' && after === undefined),
    )
    .sort((one, other) => one.startedAt - other.startedAt);
  const found: Violation[] = [];
  const floors = new Map<string, (typeof shown)[number]>();
  let next = 0;
  for (const call of asked) {
    for (; next < shown.length; next += 1) {
      const one = shown[next];
      if (one === undefined || one.at >= call.startedAt) break;
      if (one.seq > (floors.get(one.key)?.seq ?? 0)) floors.set(one.key, one);
    }
    for (const one of call.operation === 'subscribe' ? call.shown.slice(0, 1) : call.shown) {
      if (one.kind === 'reply') continue;
      const floor = floors.get(`${call.agent} ${one.taskId}`);
      const [, seq] = rangeOf(one, logOf(call.agent, one.taskId)) ?? [];
      if (floor === undefined || seq === undefined || seq >= floor.seq) continue;
      const evidence = `${at(call)} was shown ${seq}, begun ${(call.startedAt - floor.at).toFixed(1)} ms after ${at(floor.call)} was shown ${floor.seq}`;
      found.push({ rule: 'answer is stale', taskId: one.taskId, seq, evidence });
    }
  }
  return found;
}

/** Returns the first and the last record at which the task could equal the shown one. */
function rangeOf(
  shown: Exclude<Shown, { kind: 'reply' }>,
  log: FoldedLog | undefined,
): readonly [first: number, last: number] | undefined {
  if (shown.kind === 'event' || shown.kind === 'snapshot') return [shown.seq, shown.seq];
  if (shown.kind === 'listed') return log?.seqsOfStatus(shown.task);
  const seqs = log?.seqsOfTask(shown.task) ?? [];
  const [first] = seqs;
  const last = seqs.at(-1);
  return first === undefined || last === undefined ? undefined : [first, last];
}

function at({ id, operation, startedAt }: ClientCall): string {
  return `call ${id} (${operation} at ${startedAt.toFixed(0)})`;
}
