import { mergedCancel } from '../merged-cancel.js';
import type { CancelRequest } from '../storage.js';
import type {
  CancelOperation,
  CancelResult,
  CheckpointOperation,
  ClaimedTurn,
  ClaimOperation,
  HeldFields,
  ReleaseOperation,
  RenewOperation,
  RenewResult,
} from './operations.js';
import { dropTurn, hold, letGo, settleReady, waitingIn } from './task-turns.js';
import type { TaskHead, WriteTables } from './write-tables.js';

interface Claimable {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly place: number;
}

interface ExecutionRow {
  readonly attempt: number;
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

const CLAIMABLE = `SELECT a.name AS agent, s.tenant, s.owner, t.id, e.place FROM execution e
  JOIN task t ON t.pk = e.task JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent
  WHERE a.name IN (SELECT value FROM json_each(?))`;
const WAITING = `${CLAIMABLE} AND e.ready = 1`;
const LOST = `${CLAIMABLE} AND t.held = e.turn AND t.lease_end <= ? AND t.node <> ?`;

/** Gives turns that nobody runs to a node. */
export function claim(tables: WriteTables, operation: ClaimOperation): readonly ClaimedTurn[] {
  const [, now, node, leaseMs] = operation;
  const turns: ClaimedTurn[] = [];
  for (const row of claimable(tables, operation)) {
    const head = tables.head(row.agent, row.id);
    const [first] = head?.queue ?? [];
    if (head === undefined || first === undefined) continue;
    hold(tables, head, { node, end: now + leaseMs });
    first.ready = false;
    tables.run(
      'UPDATE execution SET ready = 0, attempt = attempt + 1 WHERE task = ? AND turn = ?',
      head.pk,
      first.turn,
    );
    turns.push(...heldTurn(tables, row, head));
  }
  return turns;
}

/** The turns that this very claim has given out before, when its answer was lost. */
export function claimedBefore(tables: WriteTables, operation: ClaimOperation): readonly ClaimedTurn[] | undefined {
  const [, now, node, leaseMs, agents, , task] = operation;
  const rows = tables.all<Claimable>(
    `${CLAIMABLE} AND t.held = e.turn AND t.node = ? AND t.lease_end = ? ORDER BY e.place`,
    JSON.stringify(agents),
    node,
    now + leaseMs,
  );
  const turns = rows.flatMap((row) => {
    const head = task === null || task[1] === row.id ? tables.head(row.agent, row.id) : undefined;
    return head === undefined ? [] : heldTurn(tables, row, head);
  });
  return turns.length === 0 ? undefined : turns;
}

function heldTurn(tables: WriteTables, row: Claimable, head: TaskHead): readonly ClaimedTurn[] {
  const { held, pk, epoch } = head;
  const execution = tables.get<ExecutionRow>(
    'SELECT attempt, message, caller, checkpoint, cancel FROM execution WHERE task = ? AND turn = ?',
    pk,
    held,
  );
  if (execution === undefined || held === null) return [];
  const { attempt, message, caller, checkpoint, cancel } = execution;
  const scope = [row.agent, row.tenant, row.owner] as const;
  return [[scope, row.id, epoch, held, attempt, head.began === held, message, caller, checkpoint, cancel]];
}

/** Moves the ends of leases on, as far as they are still held. */
export function renew(tables: WriteTables, [, now, leaseMs, turns]: RenewOperation): RenewResult {
  return turns.map((turn) => {
    const head = heldBy(tables, turn);
    if (head === undefined) return false;
    head.leaseEnd = now + leaseMs;
    tables.run('UPDATE task SET lease_end = ? WHERE pk = ?', head.leaseEnd, head.pk);
    return cancelOf(tables, head);
  });
}

/** Gives a turn up; how many executions of its task wait. */
export function release(tables: WriteTables, [, turn, how]: ReleaseOperation): number {
  const head = heldBy(tables, turn);
  if (head !== undefined) {
    if (how === 'done') dropTurn(tables, head, turn[2]);
    else letGo(head);
    tables.run('UPDATE task SET held = NULL, node = NULL, lease_end = NULL WHERE pk = ?', head.pk);
    settleReady(tables, head);
  }
  const now = head ?? tables.head(turn[0], turn[1]);
  return now === undefined ? 0 : waitingIn(now);
}

/** Keeps a value for the next attempt; false for a turn that is no longer held. */
export function saveCheckpoint(tables: WriteTables, [, turn, checkpoint]: CheckpointOperation): boolean {
  const head = heldBy(tables, turn);
  if (head === undefined) return false;
  tables.run('UPDATE execution SET checkpoint = ? WHERE task = ? AND turn = ?', checkpoint, head.pk, head.held);
  return true;
}

/** Keeps a request to cancel with the running turn, if there is one. */
export function requestCancel(tables: WriteTables, [, scope, taskId, request]: CancelOperation): CancelResult {
  const head = tables.headIn(scope, taskId);
  if (head === undefined) return ['not-found'];
  if (head.ended) return ['terminal', head.state];
  if (head.held !== null) {
    const earlier = cancelOf(tables, head);
    const merged = earlier === null ? request : JSON.stringify(mergedCancel(parsed(earlier), parsed(request)));
    tables.run('UPDATE execution SET cancel = ? WHERE task = ? AND turn = ?', merged, head.pk, head.held);
  }
  return ['requested'];
}

function claimable(tables: WriteTables, operation: ClaimOperation): readonly Claimable[] {
  const [, now, node, , agents, limit, task] = operation;
  const named = JSON.stringify(agents);
  if (task !== null) {
    const head = limit > 0 ? tables.head(...task) : undefined;
    if (head === undefined || head.ended) return [];
    return [
      ...tables.all<Claimable>(`${WAITING} AND e.task = ?`, named, head.pk),
      ...tables.all<Claimable>(`${LOST} AND e.task = ?`, named, now, node, head.pk),
    ];
  }
  const waiting = tables.all<Claimable>(`${WAITING} ORDER BY e.place LIMIT ?`, named, Math.max(0, limit));
  if (now < tables.nextLeaseEnd) return waiting;
  const lost = tables.all<Claimable>(`${LOST} ORDER BY e.place LIMIT ?`, named, now, node, Math.max(0, limit));
  const next = tables.get<{ next: number | null }>(
    'SELECT min(t.lease_end) AS next FROM execution e JOIN task t ON t.pk = e.task AND t.held = e.turn',
  );
  tables.nextLeaseEnd = next?.next ?? Number.POSITIVE_INFINITY;
  return [...waiting, ...lost].sort((a, b) => a.place - b.place).slice(0, Math.max(0, limit));
}

/** The task of a turn, if the turn is still held under this epoch. */
function heldBy(tables: WriteTables, [agent, taskId, turn, epoch]: HeldFields): TaskHead | undefined {
  const head = tables.head(agent, taskId);
  return head !== undefined && head.held === turn && head.epoch === epoch ? head : undefined;
}

function cancelOf(tables: WriteTables, head: TaskHead): string | null {
  const sql = 'SELECT cancel FROM execution WHERE task = ? AND turn = ?';
  return tables.get<{ cancel: string | null }>(sql, head.pk, head.held)?.cancel ?? null;
}

function parsed(request: string): CancelRequest {
  return JSON.parse(request) as CancelRequest;
}
