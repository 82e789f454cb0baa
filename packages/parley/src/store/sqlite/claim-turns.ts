import { mergedCancel, parsedCancel } from '../merged-cancel.js';
import type {
  BeginOperation,
  CancelOperation,
  CancelResult,
  CheckpointOperation,
  ClaimedTurn,
  ClaimOperation,
  HeldFields,
  LeaveAsideOperation,
  ReleaseOperation,
  RenewOperation,
  RenewResult,
  ScopeFields,
} from './operations.js';
import { dropTurn, hold, letGo, settleReady, waitingIn } from './task-turns.js';
import type { TaskHead, WriteTables } from './write-tables.js';

interface Claimable {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly held: number | null;
  readonly node: string | null;
  readonly leaseEnd: number | null;
}

/** A turn as the table of executions has it. */
interface Place {
  readonly task: number;
  readonly turn: number;
  readonly place: number;
}

interface Candidate extends Place {
  readonly row: Claimable;
}

interface ExecutionRow {
  readonly attempt: number;
  readonly hand_overs: number;
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

const OWNER = `SELECT a.name AS agent, s.tenant, s.owner, t.id, t.held, t.node, t.lease_end AS leaseEnd
  FROM task t JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent WHERE t.pk = ?`;
// Both read no row that may be damaged: the index has all of these columns, and they come before the long ones.
const READY = `SELECT task, turn, place FROM execution INDEXED BY execution_ready
  WHERE ready = 1 AND place > ? ORDER BY place LIMIT ?`;
const NOT_READY = 'SELECT task, turn, place FROM execution WHERE ready = 0';
const READ_AT_ONCE = 200;

/**
 * Gives turns that nobody runs to a node. A turn that cannot be read is set aside and keeps no other from being
 * claimed.
 */
export function claim(tables: WriteTables, operation: ClaimOperation): readonly ClaimedTurn[] {
  const [, now, node, leaseMs] = operation;
  const turns: ClaimedTurn[] = [];
  for (const { task, row } of claimable(tables, operation)) {
    const claimed = tables.apart(task, () => {
      const head = tables.head(scopeOf(row), row.id);
      const [first] = head?.queue ?? [];
      if (head === undefined || first === undefined) return [];
      hold(tables, head, { node, end: now + leaseMs });
      first.ready = false;
      tables.run('UPDATE execution SET ready = 0 WHERE task = ? AND turn = ?', head.pk, first.turn);
      return heldTurn(tables, row, head);
    });
    turns.push(...(claimed ?? []));
  }
  return turns;
}

/** The turns that this very claim has given out before, when its answer was lost. */
export function claimedBefore(tables: WriteTables, operation: ClaimOperation): readonly ClaimedTurn[] | undefined {
  const [, now, node, leaseMs, agents, , task] = operation;
  const turns = notReady(tables).flatMap((place) => {
    const row = ownerOf(tables, place.task);
    if (row?.held !== place.turn || row.node !== node || row.leaseEnd !== now + leaseMs) return [];
    if (!agents.includes(row.agent) || (task !== null && !isTask(row, task))) return [];
    return (
      tables.apart(place.task, () => {
        const head = tables.head(scopeOf(row), row.id);
        return head === undefined ? [] : heldTurn(tables, row, head);
      }) ?? []
    );
  });
  return turns.length === 0 ? undefined : turns;
}

function heldTurn(tables: WriteTables, row: Claimable, head: TaskHead): readonly ClaimedTurn[] {
  const { held, pk, epoch } = head;
  const execution = tables.get<ExecutionRow>(
    'SELECT attempt, hand_overs, message, caller, checkpoint, cancel FROM execution WHERE task = ? AND turn = ?',
    pk,
    held,
  );
  if (execution === undefined || held === null) return [];
  const { attempt, hand_overs, message, caller, checkpoint, cancel } = execution;
  const began = head.began === held;
  return [[scopeOf(row), row.id, epoch, held, attempt + 1, hand_overs, began, message, caller, checkpoint, cancel]];
}

/** Counts the attempt that begins; false for a turn that is no longer held, or the request to cancel it, if any. */
export function begin(tables: WriteTables, [, turn, attempt]: BeginOperation): RenewResult[number] {
  const head = heldBy(tables, turn);
  if (head === undefined) return false;
  tables.run('UPDATE execution SET attempt = ? WHERE task = ? AND turn = ?', attempt, head.pk, head.held);
  return cancelOf(tables, head);
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
    if (typeof how === 'object') {
      const sql = 'UPDATE execution SET attempt = ?, hand_overs = ? WHERE task = ? AND turn = ?';
      tables.run(sql, ...how, head.pk, turn[2]);
    }
    tables.run('UPDATE task SET held = NULL, node = NULL, lease_end = NULL WHERE pk = ?', head.pk);
    settleReady(tables, head);
  }
  const now = head ?? tables.head(turn[0], turn[1]);
  return now === undefined ? 0 : waitingIn(now);
}

/**
 * Gives up a turn that cannot be read, as if it had not been claimed; nobody claims it until the file is opened again.
 */
export function leaveAside(tables: WriteTables, [, turn, reason]: LeaveAsideOperation): undefined {
  const head = heldBy(tables, turn);
  if (head === undefined) return;
  tables.apart(head.pk, () => {
    letGo(head);
    tables.run('UPDATE task SET held = NULL, node = NULL, lease_end = NULL WHERE pk = ?', head.pk);
    settleReady(tables, head);
  });
  tables.setAside(head.pk, reason);
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
  const head = tables.head(scope, taskId);
  if (head === undefined) return ['not-found'];
  if (head.ended) return ['terminal', head.state];
  if (head.held !== null) {
    const earlier = cancelOf(tables, head);
    const merged =
      earlier === null ? request : JSON.stringify(mergedCancel(parsedCancel(earlier), parsedCancel(request)));
    tables.run('UPDATE execution SET cancel = ? WHERE task = ? AND turn = ?', merged, head.pk, head.held);
  }
  return ['requested'];
}

function claimable(tables: WriteTables, operation: ClaimOperation): readonly Candidate[] {
  const [, now, node, , agents, limit, task] = operation;
  if (limit <= 0) return [];
  if (task !== null) {
    const head = tables.head(...task);
    const [first] = head === undefined || head.ended || !agents.includes(task[0][0]) ? [] : head.queue;
    const row = head === undefined || first === undefined ? undefined : ownerOf(tables, head.pk);
    if (head === undefined || first === undefined || row === undefined) return [];
    const isFree = first.ready || isLost(row, { turn: first.turn, now, node });
    return isFree ? [{ task: head.pk, turn: first.turn, place: 0, row }] : [];
  }
  const waiting: Candidate[] = [];
  for (const place of readyPlaces(tables)) {
    const row = ownerOf(tables, place.task);
    if (row === undefined || !agents.includes(row.agent)) continue;
    waiting.push({ ...place, row });
    if (waiting.length === limit) break;
  }
  if (now < tables.nextLeaseEnd) return waiting;
  return [...waiting, ...lost(tables, operation)].sort((a, b) => a.place - b.place).slice(0, limit);
}

/** Turns whose lease has ended, oldest first. */
function lost(tables: WriteTables, [, now, node, , agents, limit]: ClaimOperation): readonly Candidate[] {
  const found: Candidate[] = [];
  let nextLeaseEnd = Number.POSITIVE_INFINITY;
  for (const place of notReady(tables)) {
    const row = ownerOf(tables, place.task);
    if (row?.held !== place.turn) continue;
    nextLeaseEnd = Math.min(nextLeaseEnd, row.leaseEnd ?? nextLeaseEnd);
    if (agents.includes(row.agent) && isLost(row, { turn: place.turn, now, node })) found.push({ ...place, row });
  }
  tables.nextLeaseEnd = nextLeaseEnd;
  return found.slice(0, limit);
}

function isLost(row: Claimable, held: { readonly turn: number; readonly now: number; readonly node: string }): boolean {
  return row.held === held.turn && row.leaseEnd !== null && row.leaseEnd <= held.now && row.node !== held.node;
}

function* readyPlaces(tables: WriteTables): Generator<Place, void> {
  for (let after = -1; ; ) {
    const places = tables.all<Place>(READY, after, READ_AT_ONCE);
    yield* places;
    const last = places.at(-1);
    if (last === undefined || places.length < READ_AT_ONCE) return;
    after = last.place;
  }
}

function notReady(tables: WriteTables): readonly Place[] {
  return tables.all<Place>(NOT_READY).sort((a, b) => a.place - b.place);
}

/** The owner of a task, unless the task is set aside. */
function ownerOf(tables: WriteTables, task: number): Claimable | undefined {
  return tables.apart(task, () => tables.get<Claimable>(OWNER, task));
}

function scopeOf({ agent, tenant, owner }: Claimable): ScopeFields {
  return [agent, tenant, owner];
}

function isTask(row: Claimable, [scope, id]: readonly [ScopeFields, string]): boolean {
  return row.id === id && scopeOf(row).every((name, at) => name === scope[at]);
}

/** The task of a turn, if the turn is still held under this epoch. */
function heldBy(tables: WriteTables, [scope, taskId, turn, epoch]: HeldFields): TaskHead | undefined {
  const head = tables.head(scope, taskId);
  return head !== undefined && head.held === turn && head.epoch === epoch ? head : undefined;
}

function cancelOf(tables: WriteTables, head: TaskHead): string | null {
  const sql = 'SELECT cancel FROM execution WHERE task = ? AND turn = ?';
  return tables.get<{ cancel: string | null }>(sql, head.pk, head.held)?.cancel ?? null;
}
