import {
  type Clock,
  type IdempotencyKey,
  type KeyAnswer,
  keyIfKnown,
  type Lease,
  type Message,
  OwnerBlockedError,
  type Remembered,
  type Reservation,
  rememberKey,
  repeatCall,
  reserveKey,
  type SharedKey,
} from 'parley-a2a/storage-engine';
import {
  fullText,
  indexForm,
  isBlocked,
  nameOf,
  type StoredScope,
  scopeColumns,
  storedName,
  textOfName,
} from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** A row of the table of keys. */
export interface KeyRow {
  readonly version: string;
  readonly expires: number;
  readonly digest: string;
  readonly task_id: string | null;
  readonly full_task_id: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
  readonly node: string | null;
  readonly lease_end: number | null;
  readonly task_gone: boolean;
}

/** SQL for the version of a key `k`: the columns that decisions use. Each write changes it. */
export const KEY_VERSION = 'ROW(k.expires, k.lease_end, k.node, k.turn, k.task_id)::text';
/** SQL for the columns of a `KeyRow` of a key `k`. */
export const KEY_COLUMNS = `k.expires, k.digest, k.task_id, k.full_task_id, k.turn, k.reply, k.node, k.lease_end,
  ${KEY_VERSION} AS version, k.task_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM parley.task t WHERE t.part = k.part AND t.id = k.task_id AND t.scope IS NOT DISTINCT FROM k.scope
  ) AS task_gone`;

/** Returns a key in the form of the engine. */
export function sharedKeyOf(row: KeyRow): SharedKey {
  const { version, digest, expires: expiresAt, lease_end: leaseEnd, task_gone: isTaskGone } = row;
  const reservation = leaseEnd === null ? undefined : { node: nameOf(row.node ?? ''), leaseEnd };
  const remembered = reservation === undefined ? rememberedOf(row) : undefined;
  return { version, digest, expiresAt, isTaskGone, reservation, remembered };
}

function rememberedOf({ digest, task_id: id, full_task_id: full, turn, reply }: KeyRow): Remembered {
  if (reply !== null) return { digest, outcome: { reply: JSON.parse(reply) as Message } };
  return { digest, outcome: { taskId: id === null ? '' : storedName(id, full), turn: turn ?? 0 } };
}

/** The value of a key: a task and a turn, a reply, or the lease of the node that has reserved it. */
type KeyValue =
  | { readonly taskId: string; readonly turn: number }
  | { readonly reply: Message }
  | { readonly lease: Lease };

/** Writes a key that does not exist or has the given version, unless its owner is blocked. */
const PUT: Sql = {
  name: 'put-key',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now)
    INSERT INTO parley.idempotency AS k (scope, key, part, expires, digest, task_id, full_task_id, turn, reply, node,
      lease_end, agent, tenant, owner)
    SELECT $1::uuid, $2, $3::smallint, now + $4::bigint, $5, $6, $7, $8::integer, $9, $10, now + $11::bigint, $12::text,
      $13::text, $14::text
    FROM clock WHERE NOT ${isBlocked('$12', '$13', '$14')}
    ON CONFLICT (scope, key, part) DO UPDATE SET expires = excluded.expires, digest = excluded.digest,
      task_id = excluded.task_id, full_task_id = excluded.full_task_id, turn = excluded.turn, reply = excluded.reply,
      node = excluded.node, lease_end = excluded.lease_end, agent = excluded.agent, tenant = excluded.tenant,
      owner = excluded.owner
    WHERE ${KEY_VERSION} = $15::text
    RETURNING true AS written`,
};

/** Writes a key if it is unchanged. Returns false if it has changed, or its owner is blocked. */
export async function putKey(
  tables: Tables,
  scope: StoredScope,
  put: { readonly key: IdempotencyKey; readonly value: KeyValue; readonly before: SharedKey | undefined },
): Promise<boolean> {
  const { key, value, before } = put;
  const task = 'taskId' in value ? value : undefined;
  const lease = 'lease' in value ? value.lease : undefined;
  const rows = await tables.query(
    PUT,
    ...[scope.hash, indexForm(key.key), scope.part, key.ttlMs, key.digest],
    ...(task === undefined ? [null, null, null] : [indexForm(task.taskId), fullText(task.taskId), task.turn]),
    'reply' in value ? JSON.stringify(value.reply) : null,
    ...(lease === undefined ? [null, null] : [textOfName(lease.node), lease.leaseMs]),
    ...scopeColumns(scope.scope),
    before?.version ?? null,
  );
  return rows.length > 0;
}

const READ: Sql = {
  name: 'read-key',
  text: `SELECT parley.now_ms() AS now, ${isBlocked('$4', '$5', '$6::text')} AS blocked, k.* FROM (SELECT) one
    LEFT JOIN LATERAL (
      SELECT ${KEY_COLUMNS} FROM parley.idempotency k WHERE k.scope = $1 AND k.key = $2 AND k.part = $3
    ) k ON true`,
  repeatable: true,
};

interface FoundKey {
  readonly now: number;
  readonly blocked: boolean;
  readonly key: SharedKey | undefined;
}

async function readKey(tables: Tables, scope: StoredScope, key: string): Promise<FoundKey> {
  const at = [scope.hash, indexForm(key), scope.part, ...scopeColumns(scope.scope)];
  const [row] = await tables.query<Omit<FoundKey, 'key'> & { readonly [Name in keyof KeyRow]: KeyRow[Name] | null }>(
    READ,
    ...at,
  );
  if (row === undefined) return { now: 0, blocked: false, key: undefined };
  return { now: row.now, blocked: row.blocked, key: row.version === null ? undefined : sharedKeyOf(row as KeyRow) };
}

/** Most keys are new, so the first attempt reads nothing. */
const NEW_KEY: FoundKey = { now: 0, blocked: false, key: undefined };

/** Lets the engine decide about a key, and writes it if it is unchanged since then. */
async function changeKey(
  tables: Tables,
  scope: StoredScope,
  {
    key,
    value,
    clock,
    decide,
  }: {
    readonly key: IdempotencyKey;
    readonly value: KeyValue;
    readonly clock: Clock;
    readonly decide: (found: FoundKey, write: (before: SharedKey | undefined) => void) => KeyAnswer<SharedKey>;
  },
): Promise<KeyAnswer<SharedKey>> {
  let found = NEW_KEY;
  return repeatCall(clock, 'An idempotency key', async () => {
    let isWritten = false;
    let before: SharedKey | undefined;
    const answer = decide(found, (earlier) => {
      isWritten = true;
      before = earlier;
    });
    if (!isWritten || (await putKey(tables, scope, { key, value, before }))) return answer;
    found = await readKey(tables, scope, key.key);
    if (found.blocked) throw new OwnerBlockedError();
    return undefined;
  });
}

/** Reserves a key, unless its outcome is known or another node has reserved it. */
export async function reserve(
  tables: Tables,
  scope: StoredScope,
  { key, lease, clock }: { readonly key: IdempotencyKey; readonly lease: Lease; readonly clock: Clock },
): Promise<Reservation> {
  const { node } = lease;
  const answer = await changeKey(tables, scope, {
    key,
    value: { lease },
    clock,
    decide: (found, write) => reserveKey(found.key, { node, now: found.now, write }),
  });
  switch (answer.kind) {
    case 'written':
      return { kind: 'reserved' };
    case 'reserved':
      return { kind: 'taken', digest: answer.key.digest };
    case 'known':
      return { kind: 'known', first: outcomeOf(answer.key) };
  }
}

/** Stores a direct reply, unless an outcome is known: then that is returned. */
export async function remember(
  tables: Tables,
  scope: StoredScope,
  { key, reply, clock }: { readonly key: IdempotencyKey; readonly reply: Message; readonly clock: Clock },
): Promise<Remembered> {
  const answer = await changeKey(tables, scope, {
    key,
    value: { reply },
    clock,
    decide: (found, write) => rememberKey(found.key, { now: found.now, write }),
  });
  return answer.kind === 'written' ? { digest: key.digest, outcome: { reply } } : outcomeOf(answer.key);
}

function outcomeOf({ remembered }: SharedKey): Remembered {
  if (remembered === undefined) throw new TypeError('A reserved key has no outcome');
  return remembered;
}

const UNRESERVE: Sql = {
  name: 'unreserve-key',
  text: `DELETE FROM parley.idempotency
    WHERE scope = $1 AND key = $2 AND part = $3 AND node = $4 AND lease_end IS NOT NULL`,
};

/** Releases the reservation of a node. */
export async function unreserve(
  tables: Tables,
  scope: StoredScope,
  { key, node }: { readonly key: string; readonly node: string },
): Promise<void> {
  await tables.query(UNRESERVE, scope.hash, indexForm(key), scope.part, textOfName(node));
}

/** Returns the known outcome of a key. */
export async function recall(tables: Tables, scope: StoredScope, key: string): Promise<Remembered | undefined> {
  const { now, key: found } = await readKey(tables, scope, key);
  return keyIfKnown(found, now)?.remembered;
}
