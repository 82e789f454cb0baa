import { checkClients } from './check-clients.js';
import { checkEnds, checkLogs, checkSettled } from './check-logs.js';
import { checkCancels, checkMessages, checkOutcomes } from './check-messages.js';
import { checkPush } from './check-push.js';
import { checkRuns } from './check-runs.js';
import { FoldedLog } from './folded-log.js';
import type { History, Violation } from './history.js';

/** Returns all violations of the promises in a history. Pure: the same history gives the same violations. */
export function checkHistory(history: History): Violation[] {
  const logs = history.logs.map((log) => new FoldedLog(log));
  const byKey = new Map(logs.map((log) => [`${log.agent} ${log.id}`, log]));
  const logOf = (agent: string, taskId: string) => byKey.get(`${agent} ${taskId}`);
  return [
    ...checkLogs(logs),
    ...checkSettled(logs),
    ...checkEnds(logs, history),
    ...checkClients(history.calls, logOf),
    ...checkMessages(history.calls, logs),
    ...checkOutcomes(history.calls),
    ...checkCancels(history.calls, logs),
    ...checkRuns(history, logs, logOf),
    ...checkPush(history, logOf),
  ];
}
