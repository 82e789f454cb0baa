import { isTerminal } from '../../../packages/parley/src/model/task-state.js';
import { brief, canonical, type FoldedLog } from './folded-log.js';
import type { ClientCall, Violation } from './history.js';

/**
 * Checks the effects of messages: an acknowledged message is in one task, once, and each call with it got that task or
 * the same reply. A refused message is nowhere. A message without an answer is there once at most.
 */
export function checkMessages(calls: readonly ClientCall[], logs: readonly FoldedLog[]): Violation[] {
  const places = new Map<string, FoldedLog[]>();
  for (const log of logs) {
    for (const { messageId, role } of log.log.stored.task.history ?? []) {
      if (role !== 'ROLE_USER') continue;
      const key = `${log.agent} ${messageId}`;
      const found = places.get(key);
      if (found === undefined) places.set(key, [log]);
      else found.push(log);
    }
  }
  const sends = new Map<string, ClientCall[]>();
  for (const call of calls) {
    if (call.messageId === undefined) continue;
    const key = `${call.agent} ${call.messageId}`;
    const same = sends.get(key);
    if (same === undefined) sends.set(key, [call]);
    else same.push(call);
  }
  return Array.from(sends).flatMap(([key, same]) => checkMessage(same, places.get(key) ?? [], logs));
}

function checkMessage(
  calls: readonly ClientCall[],
  places: readonly FoldedLog[],
  logs: readonly FoldedLog[],
): Violation[] {
  const [{ messageId } = { messageId: '' }] = calls;
  const found: Violation[] = [];
  const replies = new Set(
    calls.flatMap((call) => call.shown.flatMap((one) => (one.kind === 'reply' ? [canonical(one.message)] : []))),
  );
  const tasks = new Set(
    calls.flatMap((call) => call.shown.flatMap((one) => (one.kind === 'reply' ? [] : [one.taskId]))),
  );
  const ids = calls.map(({ id }) => id).join(' and ');
  if (places.length > 1) {
    const evidence = `message ${messageId} is in the tasks ${places.map(({ id }) => id).join(', ')}`;
    found.push({ rule: 'message has its effect twice', taskId: places[0]?.id, evidence });
  }
  if (replies.size > 1 || tasks.size > 1 || (replies.size > 0 && tasks.size > 0)) {
    const evidence = `message ${messageId}, calls ${ids}: tasks ${[...tasks].join(', ')}, replies ${[...replies].join(', ')}`;
    found.push({ rule: 'one message has two answers', evidence });
  }
  const isRefused = calls.every(({ outcome }) => outcome === 'refused');
  if (isRefused && places.length > 0) {
    const evidence = `message ${messageId}, refused with ${brief(calls[0]?.error)}`;
    found.push({ rule: 'refused message has an effect', taskId: places[0]?.id, evidence });
  }
  for (const taskId of tasks) {
    if (places.some(({ id }) => id === taskId)) continue;
    const task = logs.find(({ id }) => id === taskId)?.log.stored.task;
    // The task may have ended before the turn of the message.
    if (task !== undefined && isTerminal(task.status.state) && calls.some((call) => call.taskId === taskId)) continue;
    found.push({ rule: 'acknowledged message is lost', taskId, evidence: `message ${messageId}, calls ${ids}` });
  }
  return found;
}

/** The errors that a call of the load may get, because its task has ended before. */
const REFUSALS: Readonly<Partial<Record<ClientCall['operation'], RegExp>>> = {
  send: /^UNSUPPORTED_OPERATION/,
  stream: /^UNSUPPORTED_OPERATION/,
  subscribe: /^UNSUPPORTED_OPERATION/,
  cancel: /^TASK_NOT_CANCELABLE/,
};

/** Checks that every call got an outcome, and no error without a reason. */
export function checkOutcomes(calls: readonly ClientCall[]): Violation[] {
  return calls.flatMap(({ id, operation, taskId, outcome, error = '' }): Violation[] => {
    const evidence = `call ${id} (${operation}): ${error}`;
    if (outcome === 'unknown') return [{ rule: 'call got no outcome', taskId, evidence }];
    if (outcome !== 'refused' || REFUSALS[operation]?.test(error)) return [];
    return [{ rule: 'call got an error', taskId, evidence }];
  });
}

/** Checks that a task which a client was told is canceled stays so, and that it is canceled for every client. */
export function checkCancels(calls: readonly ClientCall[], logs: readonly FoldedLog[]): Violation[] {
  const byKey = new Map(logs.map((log) => [`${log.agent} ${log.id}`, log]));
  return calls.flatMap((call): Violation[] => {
    if (call.operation !== 'cancel' || call.taskId === undefined) return [];
    if (call.outcome !== 'answered' && call.outcome !== 'refused') return [];
    const stored = byKey.get(`${call.agent} ${call.taskId}`)?.log.stored;
    const state = stored?.task.status.state;
    const holds =
      call.outcome === 'answered' ? state === 'TASK_STATE_CANCELED' : isTerminal(state ?? 'TASK_STATE_UNSPECIFIED');
    if (holds) return [];
    const evidence = `call ${call.id} was ${call.outcome}, the task is ${state}`;
    return [{ rule: 'cancel was undone', taskId: call.taskId, seq: stored?.seq, evidence }];
  });
}
