import type { Task } from '../../model/task.js';
import { isTerminal } from '../../model/task-state.js';
import { LogRecord } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { statusTime } from '../../task/status-time.js';
import { appendRequest } from '../engine/append-records.js';
import type { HeldTurn } from '../held-turn.js';
import type { IdempotencyKey } from '../idempotency-keys.js';
import type { DeliveryKey } from '../push-storage.js';
import { stateNumber } from '../state-numbers.js';
import { statusText } from '../status-text.js';
import type { Scope } from '../task-key.js';
import type { Acceptance, Append } from '../task-storage.js';
import { rowsOf } from './record-rows.js';
import { textOf } from './task-texts.js';
import type {
  AcceptWrite,
  AppendWrite,
  HeldFields,
  NewTaskFields,
  QueueFields,
  ScopeFields,
} from './write-requests.js';

/** The fields of a scope as a tuple. */
export function scopeFields({ agent, tenant, owner }: Scope): ScopeFields {
  return [agent, tenant, owner];
}

/** The `lasting` column of a key. */
export function lastingOf({ isLasting = false }: IdempotencyKey): 0 | 1 {
  return isLasting ? 1 : 0;
}

/** The fields of a held turn, with a flat key. */
export function heldFields({ key, turn, epoch }: HeldTurn): HeldFields {
  return { scope: scopeFields(key.scope), taskId: key.id, turn, epoch };
}

/** The fields of the key of a delivery queue, flat. */
export function queueFields({ key, configId }: DeliveryKey): QueueFields {
  return { scope: scopeFields(key.scope), taskId: key.id, configId };
}

/** The fields of a new task with its first record. */
export function newTaskFields(task: Task, isContextNew = false): NewTaskFields {
  const { contextId = null, status } = task;
  const ended = isTerminal(status.state);
  const texts = ShapedTask.textsOf(task);
  return [
    contextId,
    stateNumber(status.state),
    statusTime(status),
    texts.status,
    texts.metadata ?? null,
    ended ? (texts.history ?? null) : null,
    ended ? (texts.artifacts ?? null) : null,
    isContextNew,
    new LogRecord(1, 0, { task }).text,
  ];
}

/** Returns the write request of an acceptance. */
export function acceptWrite(acceptance: Acceptance, now: number): AcceptWrite {
  const { scope, message, caller, task, claim, pushConfig, pushConfigLimit, idempotency, waitingLimit } = acceptance;
  const taskId = 'create' in task ? task.create.id : task.id;
  const pushConfigId = pushConfig?.id ?? taskId;
  return [
    'accept',
    scopeFields(scope),
    now,
    taskId,
    'create' in task ? newTaskFields(task.create, task.isContextNew) : null,
    'create' in task ? null : (task.contextId ?? null),
    JSON.stringify(message),
    JSON.stringify(caller),
    claim === undefined ? null : [claim.node, claim.leaseMs],
    pushConfig === undefined
      ? null
      : [pushConfigId, JSON.stringify({ ...pushConfig, id: pushConfigId, taskId }), pushConfigLimit ?? null],
    idempotency === undefined
      ? null
      : [idempotency.key, now + idempotency.ttlMs, idempotency.digest, lastingOf(idempotency)],
    waitingLimit,
    acceptance.again === true,
  ];
}

/**
 * Returns the write request of an append.
 * @throws StorageError if the append breaks its contract.
 */
export function appendWrite(append: Append, now: number): AppendWrite {
  const { authority, after, endsTurn } = appendRequest(append);
  const { key, records, head, snapshot } = append;
  const texts = snapshot && ShapedTask.textsOf(snapshot);
  return [
    'append',
    scopeFields(key.scope),
    key.id,
    now,
    authority,
    after,
    stateNumber(head.status.state),
    statusTime(head.status),
    texts?.status ?? statusText(head.status),
    textOf(head.metadata),
    texts === undefined ? null : [texts.history ?? null, texts.artifacts ?? null],
    endsTurn ?? null,
    rowsOf(records),
    textOf(append.checkpoint),
  ];
}
