import { type ClaimablePlace, claimTurns } from '../engine/claim-turns.js';
import { LIMIT } from './list-sql.js';
import type { HeadRow } from './task-heads.js';
import { writeHolder } from './task-turns.js';
import type { ClaimedTurn, ClaimResult, ClaimWrite, ScopeFields } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** A task with a turn that may be claimable, read without its long texts, which may be damaged. */
interface Owner {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly epoch: number;
  readonly held: number | null;
  readonly node: string | null;
  readonly leaseEnd: number | null;
  /** Approximate bytes of its records. */
  readonly bytes: number;
}

/** A row of the table of turns. */
interface Place {
  readonly task: number;
  readonly turn: number;
  readonly place: number;
}

/** A turn with its task. */
interface Candidate extends Place, ClaimablePlace {
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
// Neither reads a row that may be damaged: the index contains all of these columns, and in the table they come before
// the long ones.
const READY = `SELECT task, turn, place FROM execution INDEXED BY execution_ready
  WHERE ready = 1 AND place > ? ORDER BY place ${LIMIT}`;
const NOT_READY = 'SELECT task, turn, place FROM execution WHERE ready = 0';
const READ_AT_ONCE = 200;

/** Claims turns for a node. A turn that cannot be read is skipped, and does not block others. */
export function claim(tables: WriteTables, [, write]: ClaimWrite): ClaimResult {
  const { now, node, leaseMs, agents, limit, maxBytes, holds } = write;
  const request = { node, leaseMs, agents, limit, maxBytes, ...(holds && { holds }) };
  const { claims, more } = claimTurns(candidates(tables, write), {
    request,
    now,
    take: ({ task, row }, { epoch, holder }) =>
      tables.sql.apart(task, () => {
        const head = tables.heads.find(scopeOf(row), row.id);
        if (head === undefined) return undefined;
        head.epoch = epoch;
        head.holder = holder;
        writeHolder(tables, head);
        return heldTurn(tables, row, head);
      }),
  });
  return { turns: claims, more };
}

/** Returns the turns that the same call has claimed before, if its answer was lost. */
export function claimedBefore(tables: WriteTables, [, write]: ClaimWrite): ClaimResult | undefined {
  const { now, node, leaseMs, agents, task } = write;
  const turns = notReady(tables).flatMap((place) => {
    const row = ownerOf(tables, place.task);
    if (row?.held !== place.turn || row.node !== node || row.leaseEnd !== now + leaseMs) return [];
    if (!agents.includes(row.agent) || (task !== null && !isTask(row, task))) return [];
    return (
      tables.sql.apart(place.task, () => {
        const head = tables.heads.find(scopeOf(row), row.id);
        const turn = head && heldTurn(tables, row, head);
        return turn === undefined ? [] : [turn];
      }) ?? []
    );
  });
  return turns.length === 0 ? undefined : { turns, more: turns.length >= write.limit };
}

function heldTurn({ sql }: WriteTables, row: Owner, { holder, pk, epoch, began }: HeadRow): ClaimedTurn | undefined {
  if (holder === undefined) return undefined;
  const { turn } = holder;
  const execution = sql.get<ExecutionRow>(
    'SELECT attempt, hand_overs, message, caller, checkpoint, cancel FROM execution WHERE task = ? AND turn = ?',
    pk,
    turn,
  );
  if (execution === undefined) return undefined;
  const { attempt, hand_overs: handOvers, message, caller, checkpoint, cancel } = execution;
  const scope = scopeOf(row);
  const texts = { message, caller, checkpoint, cancel };
  return { scope, taskId: row.id, epoch, turn, attempt: attempt + 1, handOvers, began, ...texts };
}

/** The first turns that may be claimable, oldest first. */
function* candidates(tables: WriteTables, { task, now }: ClaimWrite[1]): Generator<Candidate, void> {
  if (task !== null) {
    const head = tables.heads.find(...task);
    const [first] = head?.queue ?? [];
    const row = head && ownerOf(tables, head.pk);
    if (head !== undefined && first !== undefined && row !== undefined) {
      yield candidateOf({ task: head.pk, turn: first.turn, place: 0 }, row);
    }
    return;
  }
  const lost = now < tables.counters.nextLeaseEnd ? [] : lostPlaces(tables, now);
  let next = lost.shift();
  for (const place of readyPlaces(tables)) {
    for (; next !== undefined && next.place < place.place; next = lost.shift()) yield next;
    const row = ownerOf(tables, place.task);
    if (row !== undefined) yield candidateOf(place, row);
  }
  for (; next !== undefined; next = lost.shift()) yield next;
}

/** Turns whose lease has expired, oldest first. */
function lostPlaces(tables: WriteTables, now: number): Candidate[] {
  const found: Candidate[] = [];
  let nextLeaseEnd = Number.POSITIVE_INFINITY;
  for (const place of notReady(tables)) {
    const row = ownerOf(tables, place.task);
    if (row?.held !== place.turn) continue;
    nextLeaseEnd = Math.min(nextLeaseEnd, row.leaseEnd ?? nextLeaseEnd);
    if ((row.leaseEnd ?? 0) <= now) found.push(candidateOf(place, row));
  }
  tables.counters.nextLeaseEnd = nextLeaseEnd;
  return found;
}

function candidateOf(place: Place, row: Owner): Candidate {
  const { agent, tenant, owner, id, held, epoch, node, leaseEnd, bytes } = row;
  const holder = held === null ? undefined : { turn: held, node: node ?? '', leaseEnd: leaseEnd ?? 0 };
  const head = { queue: [{ turn: place.turn }], holder, epoch };
  return { ...place, row, key: { scope: { agent, tenant, owner }, id }, head, bytes };
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

/** The owner of a task, unless its rows are skipped as damaged. */
function ownerOf({ sql }: WriteTables, task: number): Owner | undefined {
  return sql.apart(task, () => sql.get<Owner>(OWNER, task));
}

function scopeOf({ agent, tenant, owner }: Owner): ScopeFields {
  return [agent, tenant, owner];
}

function isTask(row: Owner, [scope, id]: readonly [ScopeFields, string]): boolean {
  return row.id === id && scopeOf(row).every((name, at) => name === scope[at]);
}
