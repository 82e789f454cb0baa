import {
  type ClaimRequest,
  parseTurn,
  type Scope,
  type TaskKey,
  type TurnContent,
  type TurnTexts,
} from 'parley-a2a/storage-engine';
import { type HeadColumns, headOf, type PostgresHead } from './load-rows.js';
import { keyFields, nameOf, type StoredScopes, storedName, textOfName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';
import type { UnreadableTurn } from './unreadable-turns.js';

/** A claimed turn without its task. `began`: the last turn of the task that wrote a record. */
export interface ClaimedTurn extends TurnContent {
  readonly key: TaskKey;
  readonly turn: number;
  readonly epoch: number;
  readonly began: number;
}

/** The claimed turns. `more`: a limit ended the list. */
export interface ClaimedTurns {
  readonly turns: readonly ClaimedTurn[];
  readonly unreadable: readonly UnreadableTurn[];
  /** The heads of their tasks, where they are certain. */
  readonly heads: readonly { readonly key: TaskKey; readonly head: PostgresHead }[];
  readonly more: boolean;
}

interface ExecutionRow extends TurnTexts {
  readonly turn: number;
  readonly attempt: number;
  readonly hand_overs: number;
}

/** Without a turn, one row contains `more`. */
interface ClaimRow extends Omit<ExecutionRow, 'turn'>, HeadColumns {
  readonly turn: number | null;
  readonly lease_end: number;
  readonly queued: number;
  readonly queue: readonly number[];
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly full_id: string | null;
  readonly more: boolean;
}

const CANDIDATE = 'e.task, e.part, e.turn, e.place, t.epoch, t.began, t.bytes';
const TASK_OF_TURN = 'JOIN parley.task t ON t.pk = e.task AND t.part = e.part';

/**
 * Claims waiting turns, and turns with an expired lease. The task is locked first. The row of a turn is checked again
 * when it is written, because the statement may have read an older version of it.
 */
const CLAIM: Sql = {
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    h AS MATERIALIZED (
      SELECT * FROM json_to_recordset($6::json) AS h(scope uuid, id text, turn integer, epoch integer)
    ),
    w AS MATERIALIZED (
      SELECT w.* FROM unnest($1::text[]) a(agent) CROSS JOIN LATERAL (
        SELECT ${CANDIDATE} FROM parley.execution e ${TASK_OF_TURN}
        WHERE e.agent = a.agent AND e.node IS NULL AND e.ready AND t.held = 0 AND t.ended IS NULL
        ORDER BY e.place LIMIT $4::integer + 1 FOR UPDATE OF t SKIP LOCKED
      ) w
    ),
    l AS MATERIALIZED (
      SELECT ${CANDIDATE} FROM clock CROSS JOIN parley.execution e ${TASK_OF_TURN}
      WHERE e.node IS NOT NULL AND e.lease_end <= clock.now AND e.agent = ANY ($1)
        AND t.held = e.turn AND t.epoch = e.epoch AND t.ended IS NULL
        AND (e.node <> $2 OR $6::json IS NOT NULL AND NOT EXISTS (
          SELECT FROM h WHERE h.scope = t.scope AND h.id = t.id AND h.turn = e.turn AND h.epoch = e.epoch
        ))
      ORDER BY e.place LIMIT $4::integer + 1 FOR UPDATE OF t SKIP LOCKED
    ),
    f AS MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY place) AS rank, sum(bytes) OVER (ORDER BY place) AS total
      FROM (SELECT * FROM w UNION ALL SELECT * FROM l) c
    ),
    x AS (
      UPDATE parley.execution e SET node = $2, lease_end = clock.now + $3, epoch = f.epoch + 1, ready = false
      FROM f, clock
      WHERE e.task = f.task AND e.part = f.part AND e.turn = f.turn AND f.rank <= $4 AND (f.rank = 1 OR f.total <= $5)
        AND (e.node IS NULL AND e.ready OR e.lease_end <= clock.now AND e.epoch = f.epoch)
      RETURNING e.task, e.part, e.turn, e.epoch, e.place, e.attempt, e.hand_overs, e.message, e.caller, e.checkpoint,
        e.cancel, e.lease_end
    ),
    t AS (
      UPDATE parley.task t SET version = t.version + 1, epoch = x.epoch, held = x.turn FROM x
      WHERE t.pk = x.task AND t.part = x.part
      RETURNING t.pk, t.part, t.version, t.seq, t.held, t.turns, t.queued, t.began, t.state, t.context_id, t.agent,
        t.tenant, t.owner, t.id, t.full_id
    )
    SELECT x.turn, x.epoch, x.attempt, x.hand_overs, x.message, x.caller, x.checkpoint, x.cancel,
      x.lease_end, t.*,
      ARRAY(SELECT e.turn FROM parley.execution e WHERE e.task = t.pk AND e.part = t.part ORDER BY e.turn) AS queue,
      EXISTS (SELECT FROM f WHERE rank > $4 OR rank > 1 AND total > $5) AS more
    FROM (SELECT) one LEFT JOIN (x JOIN t ON t.pk = x.task) ON true ORDER BY x.place`,
};

/** Claims turns for a node. */
export async function claimTurns(tables: Tables, scopes: StoredScopes, request: ClaimRequest): Promise<ClaimedTurns> {
  const { agents, node: name, leaseMs, limit, maxBytes = Number.MAX_SAFE_INTEGER, holds } = request;
  const node = textOfName(name);
  const held = holds?.map(({ key, turn, epoch }) => ({ ...keyFields(scopes.of(key.scope), key), turn, epoch }));
  const rows = await tables.query<ClaimRow>(
    CLAIM,
    agents.map(textOfName),
    node,
    leaseMs,
    limit,
    Math.min(maxBytes, Number.MAX_SAFE_INTEGER),
    held === undefined ? null : JSON.stringify(held),
  );
  const turns: ClaimedTurn[] = [];
  const unreadable: UnreadableTurn[] = [];
  const heads: ClaimedTurns['heads'][number][] = [];
  for (const row of rows) {
    const { turn, agent, tenant, owner, id, full_id: full, epoch, began } = row;
    if (turn === null) continue;
    const scope: Scope = { agent: nameOf(agent), tenant: nameOf(tenant), owner: owner === null ? null : nameOf(owner) };
    const key: TaskKey = { scope, id: storedName(id, full) };
    // The statement may have read the queue before it locked the task.
    if (row.queue.length === row.queued && row.queue.at(-1) === row.turns) {
      const queue = row.queue.map((each) => [each, each === turn ? node : null, row.lease_end] as const);
      heads.push({ key, head: headOf(row, queue) });
    }
    try {
      turns.push(turnOf({ ...row, turn }, { key, epoch, began }));
    } catch (error) {
      unreadable.push({ key, turn, epoch, error });
    }
  }
  return { turns, unreadable, heads, more: rows[0]?.more === true };
}

const EXECUTION: Sql = {
  name: 'read-turn',
  text: `SELECT turn, attempt, hand_overs, message, caller, checkpoint, cancel FROM parley.execution
    WHERE task = $1 AND part = $2 AND turn = $3 AND epoch = $4`,
};

/** Reads the turn of a task that a node has just claimed. Undefined if another node holds it now. */
export async function readClaimedTurn(
  tables: Tables,
  { part, key }: { readonly part: number; readonly key: TaskKey },
  { pk, epoch, began, holder }: PostgresHead,
): Promise<ClaimedTurn | undefined> {
  const [row] = await tables.query<ExecutionRow>(EXECUTION, pk, part, holder?.turn ?? 0, epoch);
  return row && turnOf(row, { key, epoch, began });
}

function turnOf(
  { turn, attempt, hand_overs: handOvers, ...texts }: ExecutionRow,
  { key, epoch, began }: { readonly key: TaskKey; readonly epoch: number; readonly began: number },
): ClaimedTurn {
  return { key, epoch, turn, began, attempt: attempt + 1, handOvers, ...parseTurn(texts) };
}
