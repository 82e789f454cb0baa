import { isInterrupted, isTerminal } from '../../../packages/parley/src/model/task-state.js';
import { statusTime } from '../../../packages/parley/src/task/status-time.js';
import { brief, type FoldedLog, stateOf } from './folded-log.js';
import type { History, Violation } from './history.js';

/** The text of the engine for a turn whose agent cannot run again. */
const INTERRUPTED = /cannot resume/;
/** The text of the engine for a turn that has used up its attempts. */
const EXHAUSTED = /stopped each time/;

/**
 * Checks each log by itself. Its numbers have no gap, and begin with 1 and SUBMITTED. It has one terminal event, and no
 * event after that. Times and turns never go back. The stored task equals the fold of its log.
 */
export function checkLogs(logs: readonly FoldedLog[]): Violation[] {
  return logs.flatMap((log) => [...gaps(log), ...ends(log), ...order(log), ...fold(log)]);
}

function gaps({ id, records, log }: FoldedLog): Violation[] {
  const found: Violation[] = [];
  for (const [at, { seq }] of records.entries()) {
    if (seq !== at + 1) {
      found.push({
        rule: 'gap in the log',
        taskId: id,
        seq,
        evidence: `the record at place ${at + 1} has number ${seq}`,
      });
      break;
    }
  }
  const last = records.at(-1)?.seq ?? 0;
  if (last !== log.stored.seq) {
    const evidence = `the log ends with ${last}, the task with ${log.stored.seq}`;
    found.push({ rule: 'gap in the log', taskId: id, seq: last, evidence });
  }
  const [first] = records;
  if (first !== undefined && !(first.event.task !== undefined && stateOf(first) === 'TASK_STATE_SUBMITTED')) {
    found.push({ rule: 'log without beginning', taskId: id, seq: first.seq, evidence: brief(first.event) });
  }
  return found;
}

function ends({ id, records }: FoldedLog): Violation[] {
  const end = records.findIndex((record) => isTerminal(stateOf(record) ?? 'TASK_STATE_UNSPECIFIED'));
  const after = end < 0 ? undefined : records[end + 1];
  if (after === undefined) return [];
  return [{ rule: 'record after the end', taskId: id, seq: after.seq, evidence: brief(after.event) }];
}

function order({ id, records }: FoldedLog): Violation[] {
  const found: Violation[] = [];
  let time = 0;
  let turn = 0;
  for (const record of records) {
    const { seq, event } = record;
    const status =
      event.task !== undefined
        ? event.task.status
        : event.statusUpdate !== undefined
          ? event.statusUpdate.status
          : undefined;
    if (status !== undefined && statusTime(status) < time) {
      found.push({ rule: 'time goes back', taskId: id, seq, evidence: `${status.timestamp} after a later time` });
    }
    if (status !== undefined) time = statusTime(status);
    if (record.turn !== 0 && record.turn < turn) {
      found.push({ rule: 'turns out of order', taskId: id, seq, evidence: `turn ${record.turn} after turn ${turn}` });
    }
    turn = Math.max(turn, record.turn);
  }
  return found;
}

function fold(log: FoldedLog): Violation[] {
  const { task, seq } = log.log.stored;
  if (log.seqsOfTask(task).includes(seq)) return [];
  return [{ rule: 'task is not its log', taskId: log.id, seq, evidence: `stored is ${brief(task)}` }];
}

/** Checks that every task has an end or waits for its caller, and that no turn holds it. */
export function checkSettled(logs: readonly FoldedLog[]): Violation[] {
  return logs.flatMap(({ id, log: { stored } }): Violation[] => {
    const { state } = stored.task.status;
    if (!isTerminal(state) && !isInterrupted(state)) {
      return [{ rule: 'task is stuck', taskId: id, seq: stored.seq, evidence: `it is left in ${state}` }];
    }
    if (!stored.running) return [];
    return [{ rule: 'task is stuck', taskId: id, seq: stored.seq, evidence: `turn ${stored.heldTurn} still runs` }];
  });
}

/** Checks the reasons of failures: agents of the load never fail, so a task fails only if its process died. */
export function checkEnds(logs: readonly FoldedLog[], { calls }: History): Violation[] {
  const canceled = new Set(calls.flatMap(({ operation, taskId }) => (operation === 'cancel' ? [taskId] : [])));
  return logs.flatMap(({ id, agent, log: { stored } }): Violation[] => {
    const { state, message } = stored.task.status;
    const { seq } = stored;
    if (state === 'TASK_STATE_CANCELED' && !canceled.has(id)) {
      return [{ rule: 'end without reason', taskId: id, seq, evidence: 'no client has canceled it' }];
    }
    if (state !== 'TASK_STATE_FAILED') return [];
    const text = brief(message?.parts);
    // The storage counts an attempt before its agent starts, so the journals may have fewer runs.
    if ((agent === '/fragile' ? INTERRUPTED : EXHAUSTED).test(text)) return [];
    return [{ rule: 'end without reason', taskId: id, seq, evidence: `failed with ${text}` }];
  });
}
