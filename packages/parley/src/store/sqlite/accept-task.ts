import { insertTask } from './insert-task.js';
import type { AcceptOperation, AcceptResult, CreateOperation, ScopeFields } from './operations.js';
import { putConfig } from './push-configs.js';
import { RECORD_KEY } from './record-keys.js';
import { rememberKey } from './remembered-keys.js';
import { hold } from './task-turns.js';
import type { TaskHead, WriteTables } from './write-tables.js';

interface KeyRow {
  readonly digest: string;
  readonly task: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
}

/** Takes a message in, with its task if that is new. */
export function accept(tables: WriteTables, operation: AcceptOperation): AcceptResult {
  const [, scope, now, taskId, create, contextId, message, caller, claim, pushConfig, idempotency, limit] = operation;
  if (idempotency !== null) {
    const first = recalled(tables, { scope, key: idempotency[0], now });
    if (first !== undefined) return ['repeated', first.digest, first.task, first.turn, first.reply];
  }
  let head: TaskHead | undefined;
  let isNext = claim !== null;
  if (create === null) {
    head = tables.head(scope, taskId);
    if (head === undefined) return ['not-found'];
    if (head.ended) return ['terminal', head.state];
    if (contextId !== null && contextId !== head.contextId) return ['other-context'];
    if (head.queue.length > limit) return ['full'];
    // Its turns are claimed only after the file was opened again: the message would wait for that.
    if (tables.isAside(head.pk)) throw new Error(`task ${taskId} cannot be read`);
    isNext &&= head.queue.length === 0;
    head.turns += 1;
    if (!isNext) tables.run('UPDATE task SET turns = ? WHERE pk = ?', head.turns, head.pk);
  } else {
    const lease = claim === null ? null : { node: claim[0], end: now + claim[1] };
    head = insertTask(tables, { scope, now, taskId, task: create, turns: 1, lease });
    tables.keep(taskId, head);
  }
  const turn = head.turns;
  const ready = !isNext && head.queue.length === 0;
  head.queue.push({ turn, ready });
  tables.run(
    'INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, 0)',
    head.pk,
    turn,
    tables.nextPlace(),
    ready ? 1 : 0,
    isNext ? 1 : 0,
    message,
    caller,
  );
  if (create === null && isNext && claim !== null) hold(tables, head, { node: claim[0], end: now + claim[1] });
  if (pushConfig !== null) putConfig(tables, head, pushConfig);
  if (idempotency !== null) {
    const [key, expiresAt, digest] = idempotency;
    rememberKey(tables, ['remember', scope, key, expiresAt, digest, taskId, turn, null]);
  }
  return ['accepted', turn, isNext ? head.epoch : null];
}

/** What a message has led to that was taken in, when the answer was lost. */
export function acceptedBefore(tables: WriteTables, operation: AcceptOperation): AcceptResult | undefined {
  const [, scope, now, taskId, , , message, caller, claim] = operation;
  const head = tables.head(scope, taskId);
  if (head === undefined) return undefined;
  const found = tables.get<{ turn: number | null }>(
    'SELECT max(turn) AS turn FROM execution WHERE task = ? AND message = ? AND caller = ?',
    head.pk,
    message,
    caller,
  );
  const turn = found?.turn ?? null;
  if (turn === null) return undefined;
  const isHeld = claim !== null && head.held === turn && head.node === claim[0] && head.leaseEnd === now + claim[1];
  return ['accepted', turn, isHeld ? head.epoch : null];
}

/** Puts a task there from outside; false if the id is taken. */
export function create(tables: WriteTables, [, scope, now, taskId, task]: CreateOperation): boolean {
  if (tables.head(scope, taskId) !== undefined) return false;
  insertTask(tables, { scope, now, taskId, task, turns: 0, lease: null });
  return true;
}

/** True for a task that was put there, when the answer was lost. */
export function createdBefore(tables: WriteTables, [, scope, , taskId, task]: CreateOperation): true | undefined {
  const head = tables.head(scope, taskId);
  if (head?.seq !== 1) return undefined;
  const first = tables.get<{ event: string }>(`SELECT event FROM task_record WHERE key = ${RECORD_KEY}`, head.pk, 1);
  return first?.event === task.at(-1) ? true : undefined;
}

/** A key whose time is not over and whose task is still there. */
function recalled(
  tables: WriteTables,
  { scope, key, now }: { readonly scope: ScopeFields; readonly key: string; readonly now: number },
): KeyRow | undefined {
  const scopePk = tables.scope(scope);
  if (scopePk === undefined) return undefined;
  const row = tables.get<KeyRow>(
    'SELECT digest, task, turn, reply FROM idempotency WHERE scope = ? AND key = ? AND expires > ?',
    scopePk,
    key,
    now,
  );
  if (row === undefined || row.task === null) return row;
  return tables.head(scope, row.task) === undefined ? undefined : row;
}
