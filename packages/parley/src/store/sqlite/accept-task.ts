import {
  acceptedBefore as acceptedMessage,
  acceptMessage,
  type ConfigCount,
  type MessageAnswer,
  type MessageAt,
  type MessageTables,
} from '../engine/accept-message.js';
import type { AcceptedTurn } from '../rules/task-head.js';
import { insertTask } from './insert-task.js';
import { countConfigs, putConfig } from './push-configs.js';
import { RECORD_KEY } from './record-keys.js';
import { isBlocked, type KeyAt, keyAt, writeKey } from './remembered-keys.js';
import type { HeadRow } from './task-heads.js';
import { writeHolder } from './task-turns.js';
import type { AcceptResult, AcceptWrite, CreateWrite, WriteResults } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** The rows that an acceptance writes. */
class MessageRows implements MessageTables<HeadRow, KeyAt, AcceptWrite> {
  readonly #tables: WriteTables;

  constructor(tables: WriteTables) {
    this.#tables = tables;
  }

  sameTurn({ pk }: HeadRow, [, , , , , , message, caller]: AcceptWrite): number | undefined {
    const last = 'SELECT max(turn) AS turn FROM execution WHERE task = ? AND message = ? AND caller = ?';
    return this.#tables.sql.get<{ turn: number | null }>(last, pk, message, caller)?.turn ?? undefined;
  }

  key([, scope, , , , , , , , , idempotency]: AcceptWrite): KeyAt | undefined {
    return idempotency === null ? undefined : keyAt(this.#tables, scope, idempotency[0]);
  }

  countConfigs(head: HeadRow, id: string): ConfigCount {
    return countConfigs(this.#tables, head, id);
  }

  create(write: AcceptWrite, turn: AcceptedTurn, now: number): HeadRow {
    const [, scope, , taskId, task] = write;
    if (task === null) throw new TypeError('A message without a new task begins none');
    const { epoch, holder } = turn;
    const head = insertTask(this.#tables, { scope, now, taskId, task, turns: 1, epoch, holder });
    this.#insertTurn(head, turn, write, now);
    this.#tables.heads.keep(taskId, head);
    return head;
  }

  addTurn(head: HeadRow, turn: AcceptedTurn, write: AcceptWrite, now: number): void {
    const { sql, heads } = this.#tables;
    // Turns of this task are not claimed until the file is opened again, so the message would wait until then.
    if (sql.isAside(head.pk)) throw new Error(`task ${write[3]} cannot be read`);
    this.#insertTurn(head, turn, write, now);
    head.turns = turn.turn;
    head.epoch = turn.epoch;
    head.holder = turn.holder;
    if (turn.attempts === 1) writeHolder(this.#tables, head);
    else sql.run('UPDATE task SET turns = ? WHERE pk = ?', turn.turn, head.pk);
    heads.keep(write[3], head);
  }

  putConfig(head: HeadRow, write: AcceptWrite, at: { readonly position: number; readonly now: number }): void {
    const [, , , , , , , , , pushConfig] = write;
    if (pushConfig !== null) putConfig(this.#tables, head, { id: pushConfig[0], config: pushConfig[1], ...at });
  }

  putKey(
    [, scope, , task, , , , , , , idempotency]: AcceptWrite,
    { turn, before }: { readonly turn: number; readonly before: KeyAt | undefined },
  ): void {
    if (idempotency === null) return;
    const [key, expiresAt, digest, lasting] = idempotency;
    const row = { key, expiresAt, digest, task, turn, reply: null, node: null, leaseEnd: null, lasting };
    writeKey(this.#tables, scope, row, before?.row);
  }

  #insertTurn(head: HeadRow, { turn, attempts }: AcceptedTurn, write: AcceptWrite, now: number): void {
    const { sql, counters } = this.#tables;
    const [, , , , , , message, caller] = write;
    const ready = attempts === 0 && head.queue.length === 0;
    const insert = 'INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, 0)';
    sql.run(insert, head.pk, turn, counters.nextPlace(now), ready ? 1 : 0, attempts, message, caller);
    head.queue.push({ turn, ready });
  }
}

/** Accepts a message, with its task if that is new. */
export function accept(tables: WriteTables, write: AcceptWrite): AcceptResult {
  if (isBlocked(tables, write[1], write[2])) return ['blocked'];
  return resultOf(acceptMessage(new MessageRows(tables), messageAt(tables, write), write[2]));
}

/** Returns the answer to an accepted message whose first answer was lost. */
export function acceptedBefore(tables: WriteTables, write: AcceptWrite): AcceptResult | undefined {
  const { head, request } = messageAt(tables, write);
  const earlier = head && acceptedMessage(new MessageRows(tables), head, write, request.claim);
  return earlier && resultOf(earlier);
}

function messageAt(tables: WriteTables, call: AcceptWrite): MessageAt<HeadRow, AcceptWrite> {
  const [, scope, , taskId, create, contextId, , , claim, pushConfig, idempotency, waitingLimit, again] = call;
  const request = {
    isNew: create !== null,
    contextId,
    waitingLimit,
    claim: claim === null ? undefined : { node: claim[0], leaseMs: claim[1] },
    again,
    hasKey: idempotency !== null,
    config: pushConfig === null ? undefined : { id: pushConfig[0], limit: pushConfig[2] ?? undefined },
  };
  return { head: tables.heads.find(scope, taskId), request, call };
}

function resultOf(answer: MessageAnswer<HeadRow, KeyAt>): AcceptResult {
  switch (answer.kind) {
    case 'accepted': {
      const { head, turn, isClaimed, isReady } = answer;
      return ['accepted', turn, head.seq, isClaimed ? head.epoch : null, isReady];
    }
    case 'repeated': {
      const { digest, task, turn, reply } = answer.key.row;
      return ['repeated', digest, task, turn, reply];
    }
    case 'terminal':
      return ['terminal', answer.head.state];
    default:
      return [answer.kind];
  }
}

/** Stores a task that no message created; false if the id is taken. */
export function create(tables: WriteTables, [, { scope, now, taskId, task }]: CreateWrite): WriteResults['create'] {
  if (isBlocked(tables, scope, now)) return 'blocked';
  if (tables.heads.find(scope, taskId) !== undefined) return false;
  insertTask(tables, { scope, now, taskId, task, turns: 0, epoch: 0, holder: undefined });
  return true;
}

/** True for a task that was created by a call whose answer was lost. */
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
