import { type TaskKey, ToldTasks } from 'parley-a2a/storage-engine';
import { keyFields, type StoredScopes } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** A claimed turn that could not be read. */
export interface UnreadableTurn {
  readonly key: TaskKey;
  readonly turn: number;
  readonly epoch: number;
  readonly error: unknown;
}

/** Makes a turn neither held nor ready, so that no claim finds it. */
const SET_ASIDE: Sql = {
  name: 'set-turn-aside',
  text: `UPDATE parley.execution e SET node = NULL, lease_end = 0, ready = false
    FROM parley.task t
    WHERE t.part = $1 AND t.scope IS NOT DISTINCT FROM $2::uuid AND t.id = $3 AND t.held = $4 AND t.epoch = $5
      AND e.task = t.pk AND e.part = t.part AND e.turn = t.held`,
};

/** Claimed turns whose rows cannot be read. They are removed from the queue, and their tasks are logged. */
export class UnreadableTurns extends ToldTasks {
  /** Excludes turns that this process has claimed from further claims of all nodes. */
  async setAside(tables: Tables, scopes: StoredScopes, turns: readonly UnreadableTurn[]): Promise<void> {
    for (const { key, turn, epoch, error } of turns) {
      const { part, scope, id } = keyFields(scopes.of(key.scope), key);
      await tables.query(SET_ASIDE, part, scope, id, turn, epoch);
      this.note(key, error);
    }
  }
}
