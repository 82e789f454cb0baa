import { stateNumber } from '../state-numbers.js';
import { type CopiedKey, type CopiedTask, recordBytes } from '../task-transfer.js';
import { joinContext } from './contexts.js';
import { RECORD_KEY } from './record-keys.js';
import { insertKey } from './remembered-keys.js';
import { keyBytes } from './remembered-sizes.js';
import type { WriteTables } from './write-tables.js';

/** Inserts a task, unless its scope has this id. Returns true if it was inserted. */
export function writeTask(tables: WriteTables, copy: CopiedTask): boolean {
  const { sql, heads, counters } = tables;
  const { agent, tenant, owner } = copy.scope;
  const scopePk = heads.scopeOf([agent, tenant, owner]);
  if (sql.get('SELECT 1 FROM task WHERE id = ? AND scope = ?', copy.id, scopePk) !== undefined) return false;
  const pk = counters.nextTask();
  const agentPk = heads.agentOf(agent);
  const state = stateNumber(copy.state);
  sql.run(
    'INSERT INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, ?, ?, ?)',
    pk,
    agentPk,
    copy.id,
    scopePk,
    copy.contextId === null ? null : joinContext(tables, scopePk, copy.contextId),
    copy.contextId,
    state,
    copy.statusTime,
    copy.createdAt,
    copy.seq,
    copy.floor,
    copy.epoch,
    copy.turnCount,
    copy.lastTurn,
    copy.endedAt,
    copy.status,
    copy.metadata,
    recordBytes(copy.records),
  );
  for (const { seq, turn, event, history, metadata } of copy.records) {
    sql.run(`INSERT INTO task_record VALUES (${RECORD_KEY}, ?, ?, ?, ?)`, pk, seq, turn, event, history, metadata);
  }
  counters.countTask(scopePk, state, 1);
  const { seq, status, metadata, history, artifacts } = copy;
  sql.run('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)', pk, seq, status, metadata, history, artifacts);
  for (const [at, turn] of copy.turns.entries()) {
    sql.run(
      'INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      pk,
      turn.turn,
      counters.nextPlace(copy.statusTime),
      at === 0 ? 1 : 0,
      turn.attempt,
      turn.message,
      turn.caller,
      turn.checkpoint,
      turn.cancel,
      turn.handOvers,
    );
  }
  for (const { id, config, position, dueAt, attempts, lastStatus, parked } of copy.pushConfigs) {
    sql.run('INSERT INTO push_config VALUES (?, ?, ?)', pk, id, config);
    const insert = 'INSERT INTO push_delivery VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL)';
    sql.run(insert, pk, agentPk, id, position, dueAt, attempts, lastStatus, parked);
  }
  return true;
}

/** Inserts a key with its outcome, unless the scope has this key. */
export function writeKey(tables: WriteTables, copy: CopiedKey): void {
  const { scope, key, expiresAt, digest, taskId, turn, reply } = copy;
  const row = { key, expiresAt, digest, task: taskId, turn, reply, node: null, leaseEnd: null, lasting: 0 } as const;
  const { agent, tenant, owner } = scope;
  insertKey(tables, { scopePk: tables.heads.scopeOf([agent, tenant, owner]), owner, bytes: keyBytes(row), row });
}
