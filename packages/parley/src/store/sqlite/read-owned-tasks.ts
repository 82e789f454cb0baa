import { cursorOfPlace, rowPlaceOf } from '../first-tasks.js';
import type { OwnedTask, OwnedTaskPage, OwnedTaskRange } from '../owner-storage.js';
import { OPEN_STATES, stateOfNumber } from '../state-numbers.js';
import { LIMIT } from './list-sql.js';
import type { ReadTables } from './read-tables.js';

// The order is read from indexes only, so a damaged row does not hide the next ones.
// Each state of a scope is a range of an index. `task_count` lists the states with tasks.
const OPEN = `SELECT t.pk, t.status_time AS time FROM task_count c
  CROSS JOIN task t INDEXED BY task_state ON t.scope = c.scope AND t.state = c.state
  WHERE c.state IN (${OPEN_STATES.join(', ')}) AND c.tasks > 0
  AND t.status_time >= ? AND (t.status_time > ? OR t.pk > ?) ORDER BY t.status_time, t.pk ${LIMIT}`;
const ENDED = `SELECT pk, ended AS time FROM task INDEXED BY task_ended
  WHERE ended IS NOT NULL AND ended <= ? AND (ended < ? OR pk < ?) ORDER BY ended DESC, pk DESC ${LIMIT}`;
const ROW = `SELECT a.name AS agent, s.tenant, s.owner, t.id, t.context_id AS contextId, t.state, t.status_time AS statusTime,
  t.created AS createdAt, t.seq, t.held, t.lease_end AS leaseEnd
  FROM task t JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent WHERE t.pk = ?`;

interface Row {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly contextId: string | null;
  readonly state: number;
  readonly statusTime: number;
  readonly createdAt: number;
  readonly seq: number;
  readonly held: number | null;
  readonly leaseEnd: number | null;
}

/** Reads tasks of all owners. */
export function readOwnedTasks(tables: ReadTables, range: OwnedTaskRange, now: number): OwnedTaskPage {
  return tables.together(() => {
    const { time, pk } = rowPlaceOf(range);
    const listed = tables.all<{ readonly pk: number; readonly time: number }>(
      range.hasEnded ? ENDED : OPEN,
      time,
      time,
      pk,
      range.limit,
    );
    const tasks = listed.flatMap((place): readonly OwnedTask[] => {
      const row = tables.apart(`row ${place.pk}`, () => tables.get<Row>(ROW, place.pk));
      if (row === undefined) return [];
      const { agent, tenant, owner, id, contextId, statusTime, createdAt, seq, held, leaseEnd } = row;
      return [
        {
          key: { scope: { agent, tenant, owner }, id },
          ...{ contextId, state: stateOfNumber(row.state), statusTime, createdAt, seq },
          running: leaseEnd !== null && leaseEnd > now,
          heldTurn: held ?? 0,
          cursor: cursorOfPlace({ time: place.time, tie: String(place.pk) }),
        },
      ];
    });
    return { tasks, isLast: listed.length < range.limit };
  });
}
