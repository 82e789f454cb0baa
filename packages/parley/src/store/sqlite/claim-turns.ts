import { claimedBy, isClaimable } from '../rules/turn-lease.js';
import { LIMIT } from './statements.js';
import type { HeadRow } from './task-heads.js';
import { writeHolder } from './task-turns.js';
import type { ClaimedTurn, ClaimResult, ClaimWrite, ScopeFields } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** A task with a turn that may be claimed, read without the texts that may be damaged. */
interface Owner {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly epoch: number;
  readonly held: number | null;
  readonly node: string | null;
  readonly leaseEnd: number | null;
  /** About what its records take. */
  readonly bytes: number;
}

/** A turn as the table of executions has it. */
interface Place {
  readonly task: number;
  readonly turn: number;
  readonly place: number;
}

interface Candidate extends Place {
  readonly row: Owner;
}

interface ExecutionRow {
  readonly attempt: number;
  readonly hand_overs: number;
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

const OWNER = `SELECT a.name AS agent, s.tenant, s.owner, t.id, t.epoch, t.held, t.node, t.lease_end AS leaseEnd, t.bytes
  FROM task t JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent WHERE t.pk = ?`;
// Both read no row that may be damaged: the index has all of these columns, and they come before the long ones.
const READY = `SELECT task, turn, place FROM execution INDEXED BY execution_ready
  WHERE ready = 1 AND place > ? ORDER BY place ${LIMIT}`;
const NOT_READY = 'SELECT task, turn, place FROM execution WHERE ready = 0';
const READ_AT_ONCE = 200;

/**
 * Gives turns that no node runs to a node. A turn that cannot be read is set aside and keeps no other from being
 * claimed.
 */
export function claim(tables: WriteTables, write: ClaimWrite): ClaimResult {
  const [, { now, node, leaseMs, limit, maxBytes }] = write;
  const turns: ClaimedTurn[] = [];
  let bytes = 0;
  for (const { task, row } of candidates(tables, write, limit + 1)) {
    bytes += row.bytes;
    if (turns.length >= limit || (turns.length > 0 && bytes > maxBytes)) return { turns, more: true };
    const claimed = tables.sql.apart(task, () => {
      const head = tables.heads.find(scopeOf(row), row.id);
      const [first] = head?.queue ?? [];
      if (head === undefined || first === undefined) return [];
      Object.assign(head, claimedBy(head, first.turn, { lease: { node, leaseMs }, now }));
      writeHolder(tables, head);
      return heldTurn(tables, row, head);
    });
    turns.push(...(claimed ?? []));
  }
  return { turns, more: false };
}

/** The turns that this very claim has given out before, when its answer was lost. */
export function claimedBefore(tables: WriteTables, [, write]: ClaimWrite): ClaimResult | undefined {
  const { now, node, leaseMs, agents, task } = write;
  const turns = notReady(tables).flatMap((place) => {
    const row = ownerOf(tables, place.task);
    if (row?.held !== place.turn || row.node !== node || row.leaseEnd !== now + leaseMs) return [];
    if (!agents.includes(row.agent) || (task !== null && !isTask(row, task))) return [];
    return (
      tables.sql.apart(place.task, () => {
        const head = tables.heads.find(scopeOf(row), row.id);
        return head === undefined ? [] : heldTurn(tables, row, head);
      }) ?? []
    );
  });
  return turns.length === 0 ? undefined : { turns, more: turns.length >= write.limit };
}

function heldTurn({ sql }: WriteTables, row: Owner, { holder, pk, epoch, began }: HeadRow): readonly ClaimedTurn[] {
  if (holder === undefined) return [];
  const { turn } = holder;
  const execution = sql.get<ExecutionRow>(
    'SELECT attempt, hand_overs, message, caller, checkpoint, cancel FROM execution WHERE task = ? AND turn = ?',
    pk,
    turn,
  );
  if (execution === undefined) return [];
  const { attempt, hand_overs: handOvers, message, caller, checkpoint, cancel } = execution;
  const scope = scopeOf(row);
  const texts = { message, caller, checkpoint, cancel };
  return [{ scope, taskId: row.id, epoch, turn, attempt: attempt + 1, handOvers, began: began === turn, ...texts }];
}

/** The first turns that may be claimed. */
function candidates(tables: WriteTables, write: ClaimWrite, limit: number): readonly Candidate[] {
  const [, { now, agents, task }] = write;
  if (task !== null) {
    const head = tables.heads.find(...task);
    const [first] = head?.queue ?? [];
    if (head === undefined || first === undefined) return [];
    const row = ownerOf(tables, head.pk);
    const candidate = { task: head.pk, turn: first.turn, place: 0, row };
    return isFree(candidate, write) ? [candidate] : [];
  }
  const waiting: Candidate[] = [];
  for (const place of readyPlaces(tables)) {
    const row = ownerOf(tables, place.task);
    if (row === undefined || !agents.includes(row.agent)) continue;
    waiting.push({ ...place, row });
    if (waiting.length === limit) break;
  }
  if (now < tables.counters.nextLeaseEnd) return waiting;
  return [...waiting, ...lost(tables, write, limit)].sort((a, b) => a.place - b.place).slice(0, limit);
}

/** Turns whose lease has ended, oldest first. */
function lost(tables: WriteTables, write: ClaimWrite, limit: number): readonly Candidate[] {
  const found: Candidate[] = [];
  let nextLeaseEnd = Number.POSITIVE_INFINITY;
  for (const place of notReady(tables)) {
    const row = ownerOf(tables, place.task);
    if (row?.held !== place.turn) continue;
    nextLeaseEnd = Math.min(nextLeaseEnd, row.leaseEnd ?? nextLeaseEnd);
    const candidate = { ...place, row };
    if (isFree(candidate, write)) found.push(candidate);
  }
  tables.counters.nextLeaseEnd = nextLeaseEnd;
  return found.slice(0, limit);
}

/** True if the turn is one of the agents asked for, and its node may be overtaken. */
function isFree(
  candidate: Place & { readonly row: Owner | undefined },
  [, { now, node, agents, holds }]: ClaimWrite,
): candidate is Candidate {
  const { row, turn } = candidate;
  if (row === undefined || !agents.includes(row.agent)) return false;
  const { held, epoch, leaseEnd } = row;
  const holder = held === null ? undefined : { turn: held, node: row.node ?? '', leaseEnd: leaseEnd ?? 0 };
  const { agent, tenant, owner, id } = row;
  const key = { scope: { agent, tenant, owner }, id };
  return isClaimable({ queue: [{ turn }], holder, epoch }, { node, holds }, { task: key, now });
}

function* readyPlaces({ sql }: WriteTables): Generator<Place, void> {
  for (let after = -1; ; ) {
    const places = sql.all<Place>(READY, after, READ_AT_ONCE);
    yield* places;
    const last = places.at(-1);
    if (last === undefined || places.length < READ_AT_ONCE) return;
    after = last.place;
  }
}

function notReady({ sql }: WriteTables): readonly Place[] {
  return sql.all<Place>(NOT_READY).sort((a, b) => a.place - b.place);
}

/** The owner of a task, unless the task is set aside. */
function ownerOf({ sql }: WriteTables, task: number): Owner | undefined {
  return sql.apart(task, () => sql.get<Owner>(OWNER, task));
}

function scopeOf({ agent, tenant, owner }: Owner): ScopeFields {
  return [agent, tenant, owner];
}

function isTask(row: Owner, [scope, id]: readonly [ScopeFields, string]): boolean {
  return row.id === id && scopeOf(row).every((name, at) => name === scope[at]);
}
