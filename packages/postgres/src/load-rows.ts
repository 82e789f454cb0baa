import {
  type FoundTurn,
  isEndState,
  parseCancel,
  parseProgress,
  type QuestionRows,
  type SharedHead,
  stateOfNumber,
  type TaskQuestion,
} from 'parley-a2a/storage-engine';
import { KEY_COLUMNS, type KeyRow, sharedKeyOf } from './message-keys.js';
import { preparedRecords, type RecordFields } from './prepared-change.js';
import { indexForm, isBlocked, nameOf, type StoredScopes, scopeColumns } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** The head of a task, and the physical place of its row. */
export interface PostgresHead extends SharedHead {
  readonly pk: number;
}

/** The columns of a task for its head. */
export interface HeadColumns {
  readonly pk: number;
  readonly version: number;
  readonly seq: number;
  readonly epoch: number;
  readonly held: number;
  readonly turns: number;
  readonly began: number;
  readonly state: number;
  readonly context_id: string | null;
}

/** A turn of a queue: its number, the node that holds it, and the end of the lease. */
export type QueuedTurn = readonly [turn: number, node: string | null, leaseEnd: number];

/** Returns the head of a task from its columns and its turns in order. */
export function headOf(row: HeadColumns, turns: readonly QueuedTurn[]): PostgresHead {
  const { pk, version, seq, epoch, held, began, state } = row;
  const holder = turns.find(([turn, node]) => turn === held && node !== null);
  return {
    ...{ pk, version, seq, epoch, turns: row.turns, began },
    state: stateOfNumber(state),
    contextId: row.context_id === null ? undefined : nameOf(row.context_id),
    hasEnded: isEndState(state),
    queue: turns.map(([turn]) => ({ turn })),
    holder: holder && { turn: holder[0], node: nameOf(holder[1] ?? ''), leaseEnd: holder[2] },
  };
}

interface LoadedRow extends Omit<HeadColumns, 'pk'> {
  readonly now: number;
  readonly blocked: boolean;
  readonly pk: number | null;
  readonly queue: readonly QueuedTurn[] | null;
  readonly same_turn: FoundRow | null;
  readonly key: KeyRow | null;
  readonly configs: number | null;
  readonly known: boolean | null;
  readonly tail: readonly RecordFields[] | null;
  readonly cancel: string | null;
}

interface FoundRow {
  readonly turn: number;
  readonly attempt: number;
  readonly hand_overs: number;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

const OF_TASK = 'e.task = t.pk AND e.part = t.part';

/** Reads the rows of a question in one snapshot. Parts that are not asked for are not read. */
const LOAD: Sql = {
  name: 'load-rows',
  text: `SELECT parley.now_ms() AS now, ${isBlocked('$4', '$5', '$6::text')} AS blocked,
      t.pk, t.version, t.seq, t.epoch, t.held, t.turns, t.began, t.state, t.context_id,
      CASE WHEN t.queued > 0 THEN (
        SELECT json_agg(json_build_array(e.turn, e.node, e.lease_end) ORDER BY e.turn) FROM parley.execution e
        WHERE ${OF_TASK}
      ) END AS queue,
      CASE WHEN $7::text IS NOT NULL THEN (
        SELECT json_build_object('turn', e.turn, 'attempt', e.attempt, 'hand_overs', e.hand_overs,
          'checkpoint', e.checkpoint, 'cancel', e.cancel)
        FROM parley.execution e WHERE ${OF_TASK} AND e.message = $7 AND e.caller = $8 ORDER BY e.turn DESC LIMIT 1
      ) END AS same_turn,
      CASE WHEN $9::text IS NOT NULL THEN (
        SELECT row_to_json(k) FROM (
          SELECT ${KEY_COLUMNS} FROM parley.idempotency k WHERE k.scope = $2::uuid AND k.key = $9 AND k.part = $1
        ) k
      ) END AS key,
      c.configs, c.known,
      CASE WHEN $11::integer IS NOT NULL AND t.seq > $11 THEN (
        SELECT json_agg(json_build_object('q', r.seq, 't', r.turn, 'e', r.event, 'h', r.history, 'm', r.metadata)
          ORDER BY r.seq)
        FROM (
          SELECT * FROM parley.task_record r WHERE r.task = t.pk AND r.part = t.part AND r.seq > $11
          ORDER BY r.seq LIMIT $12::integer + 1
        ) r
      ) END AS tail,
      CASE WHEN $13 AND t.held <> 0 THEN (
        SELECT e.cancel FROM parley.execution e WHERE ${OF_TASK} AND e.turn = t.held
      ) END AS cancel
    FROM (SELECT) one
    LEFT JOIN parley.task t ON t.part = $1 AND t.id = $3 AND t.scope IS NOT DISTINCT FROM $2::uuid
    LEFT JOIN LATERAL (
      SELECT count(*)::int AS configs, coalesce(bool_or(p.id = $10), false) AS known FROM parley.push_config p
      WHERE $10::text IS NOT NULL AND p.task = t.pk AND p.part = t.part
    ) c ON true`,
  repeatable: true,
};

/** Reads the rows of a question. */
export async function loadRows(
  tables: Tables,
  scopes: StoredScopes,
  { task, sameTurn, idempotencyKey, configId, tail, cancel }: TaskQuestion,
): Promise<QuestionRows<PostgresHead>> {
  const { part, hash } = scopes.of(task.scope);
  const texts = sameTurn && ([JSON.stringify(sameTurn.message), JSON.stringify(sameTurn.caller)] as const);
  const [row] = await tables.query<LoadedRow>(
    LOAD,
    ...[part, hash, indexForm(task.id), ...scopeColumns(task.scope)],
    ...(texts ?? [null, null]),
    idempotencyKey === undefined ? null : indexForm(idempotencyKey),
    configId === undefined ? null : indexForm(configId),
    ...(tail === undefined ? [null, 0] : [tail.after, tail.records.length]),
    cancel === true,
  );
  if (row === undefined) return { now: 0, isBlocked: false, head: undefined };
  const { pk, now, key, same_turn: found } = row;
  return {
    now,
    isBlocked: row.blocked,
    head: pk === null ? undefined : headOf({ ...row, pk }, row.queue ?? []),
    ...(found !== null && { sameTurn: foundTurnOf(found) }),
    ...(key !== null && { key: sharedKeyOf(key) }),
    ...(configId !== undefined && { configs: { count: row.configs ?? 0, isKnown: row.known === true } }),
    ...(tail !== undefined && { isInLog: isSameLog(row.tail ?? [], preparedRecords(tail.records)) }),
    ...(row.cancel !== null && { cancel: parseCancel(row.cancel) }),
  };
}

function foundTurnOf({ turn, attempt, hand_overs: handOvers, checkpoint, cancel }: FoundRow): FoundTurn {
  return {
    ...{ turn, attempts: attempt, handOvers },
    ...parseProgress({ checkpoint, cancel }),
  };
}

function isSameLog(found: readonly RecordFields[], records: readonly RecordFields[]): boolean {
  return (
    found.length === records.length &&
    found.every((row, at) => {
      const record = records[at];
      return (
        row.t === record?.t &&
        row.e === record.e &&
        (row.h ?? null) === (record.h ?? null) &&
        (row.m ?? null) === (record.m ?? null)
      );
    })
  );
}
