import { type AcceptDecision, decideAccept, firstTurn, repeatedAccept } from '../rules/decide-accept.js';
import { insertTask } from './insert-task.js';
import { hasRoom, putConfig } from './push-configs.js';
import { RECORD_KEY } from './record-keys.js';
import { rememberKey, standingOf } from './remembered-keys.js';
import type { HeadRow } from './task-heads.js';
import { writeHolder } from './task-turns.js';
import type { AcceptResult, AcceptWrite, CreateWrite, KeyRow, WriteResults } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Takes a message in, with its task if that is new. */
export function accept(tables: WriteTables, write: AcceptWrite): AcceptResult {
  const [, scope, now, taskId, create, contextId, message, caller, claim, pushConfig, idempotency, limit, again] =
    write;
  const { sql, heads, counters, blocks } = tables;
  if (blocks.has({ agent: scope[0], tenant: scope[1], owner: scope[2] }, now)) return ['blocked'];
  const earlier = again ? acceptedBefore(tables, write) : undefined;
  if (earlier !== undefined) return earlier;
  let keyRow: KeyRow | undefined;
  if (idempotency !== null) {
    const { standing, row } = standingOf(tables, scope, { key: idempotency[0], node: claim?.[0], now });
    if (standing === 'reserved') return ['reserved'];
    if (standing === 'known' && row !== undefined) return ['repeated', row.digest, row.task, row.turn, row.reply];
    keyRow = row;
  }
  const lease = claim === null ? undefined : { node: claim[0], leaseMs: claim[1] };
  let head: HeadRow | undefined;
  let decision: AcceptDecision;
  if (create === null) {
    head = heads.find(scope, taskId);
    decision = decideAccept(head, { contextId, waitingLimit: limit, claim: lease }, now);
  } else {
    decision = firstTurn(lease, now);
    const { epoch, holder } = decision;
    head = insertTask(tables, { scope, now, taskId, task: create, turns: 1, epoch, holder });
  }
  if (head === undefined) return ['not-found'];
  if (decision.kind === 'terminal') return ['terminal', head.state];
  if (decision.kind !== 'accepted') return [decision.kind];
  // Its turns are claimed only after the file was opened again: the message would wait for that.
  if (sql.isAside(head.pk)) throw new Error(`task ${taskId} cannot be read`);
  if (create === null && pushConfig !== null) {
    const [id, , limit] = pushConfig;
    if (!hasRoom(tables, head, { id, limit })) return ['configs-full'];
  }
  const { turn, attempts, epoch, holder } = decision;
  const isClaimed = attempts === 1;
  const ready = !isClaimed && head.queue.length === 0;
  const insert = 'INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, 0)';
  sql.run(insert, head.pk, turn, counters.nextPlace(now), ready ? 1 : 0, attempts, message, caller);
  head.queue.push({ turn, ready });
  if (create === null) {
    head.turns = turn;
    head.epoch = epoch;
    head.holder = holder;
    if (isClaimed) writeHolder(tables, head);
    else sql.run('UPDATE task SET turns = ? WHERE pk = ?', turn, head.pk);
  }
  heads.keep(taskId, head);
  if (pushConfig !== null) {
    const [id, config] = pushConfig;
    putConfig(tables, head, { id, config, position: create === null ? head.seq : 0, now });
  }
  if (idempotency !== null) {
    const [key, expiresAt, digest, lasting] = idempotency;
    const kept = { key, expiresAt, digest, task: taskId, turn, reply: null, node: null, leaseEnd: null, lasting };
    rememberKey(tables, scope, kept, keyRow);
  }
  return ['accepted', turn, head.seq, isClaimed ? epoch : null, decision.isReady];
}

/** The answer to a message that was taken in, when its caller missed the answer. */
export function acceptedBefore(tables: WriteTables, write: AcceptWrite): AcceptResult | undefined {
  const [, scope, , taskId, , , message, caller, claim] = write;
  const head = tables.heads.find(scope, taskId);
  if (head === undefined) return undefined;
  const found = tables.sql.get<{ turn: number | null }>(
    'SELECT max(turn) AS turn FROM execution WHERE task = ? AND message = ? AND caller = ?',
    head.pk,
    message,
    caller,
  );
  if (found === undefined || found.turn === null) return undefined;
  const lease = claim === null ? undefined : { node: claim[0], leaseMs: claim[1] };
  const { turn, isClaimed, isReady } = repeatedAccept(head, found.turn, lease);
  return ['accepted', turn, head.seq, isClaimed ? head.epoch : null, isReady];
}

/** Stores a task that no message created; false if the id is taken. */
export function create(tables: WriteTables, [, { scope, now, taskId, task }]: CreateWrite): WriteResults['create'] {
  if (tables.blocks.has({ agent: scope[0], tenant: scope[1], owner: scope[2] }, now)) return 'blocked';
  if (tables.heads.find(scope, taskId) !== undefined) return false;
  insertTask(tables, { scope, now, taskId, task, turns: 0, epoch: 0, holder: undefined });
  return true;
}

/** True for a task that was put there, when the answer was lost. */
export function createdBefore(tables: WriteTables, [, { scope, taskId, task }]: CreateWrite): true | undefined {
  const head = tables.heads.find(scope, taskId);
  if (head?.seq !== 1) return undefined;
  const first = tables.sql.get<{ event: string }>(
    `SELECT event FROM task_record WHERE key = ${RECORD_KEY}`,
    head.pk,
    1,
  );
  return first?.event === task.at(-1) ? true : undefined;
}
