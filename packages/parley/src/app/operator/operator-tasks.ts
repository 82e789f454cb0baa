import { type NamedParameters, wrongParameter } from '../../bindings/http/named-parameters.js';
import { TaskNotFoundError } from '../../errors/spec-errors.js';
import type { JsonObject } from '../../model/json.js';
import { isTerminal, TASK_STATES, type TaskState } from '../../model/task-state.js';
import type { ListedScope, OwnedTask, OwnedTaskPage } from '../../store/owner-storage.js';
import type { Scope } from '../../store/task-key.js';
import type { ListCursor, StoredTask, TaskStorage } from '../../store/task-storage.js';
import { statusTime } from '../../task/status-time.js';

/** Scopes that a request looks at. */
const MOST_SCOPES = 200;
const MOST_TASKS = 100;
/** Tasks of all owners that a request looks at. */
const MOST_LOOKED_AT = 1_000;
const MOST_AGE_MS = 999_999_999_999;
/** Bytes of JSON of the tasks that one call to the storage reads, about. */
const LIST_BYTES = 1024 * 1024;
/** Bytes of JSON of the records in an answer, beside its first one. */
const RECORD_BYTES = 256 * 1024;

/** A place in the list of the tasks of one owner: in the list of scopes, and within the scope that follows. */
interface Place {
  readonly scopes?: string | undefined;
  readonly tasks?: ListCursor | undefined;
}

/** A request for a list. */
interface Asked {
  readonly query: NamedParameters;
  readonly limit: number;
  readonly states: readonly TaskState[];
  /** ms since the epoch. */
  readonly createdBefore: number | undefined;
  /** The time of the storage. */
  readonly now: number;
}

/** A place in the list of the tasks of all owners: open ones come first. */
interface PlaceOfAll {
  readonly hasEnded: boolean;
  readonly cursor?: string | undefined;
}

/** The agents whose tasks an operator sees, and their storage. */
interface OperatorTasksOptions {
  readonly storage: TaskStorage;
  /** The ids of the agents. */
  readonly agents: readonly string[];
  /** The id of the agent that a request names. */
  readonly idOf: (name: string) => string;
}

/** The tasks of all owners of some agents. */
export class OperatorTasks {
  readonly #storage: TaskStorage;
  readonly #agents: readonly string[];
  readonly #idOf: OperatorTasksOptions['idOf'];

  constructor({ storage, agents, idOf }: OperatorTasksOptions) {
    this.#storage = storage;
    this.#agents = agents;
    this.#idOf = idOf;
  }

  /**
   * A page of the tasks of all owners. Open ones come first, the one with the oldest status at the top. Those that have
   * ended follow, the last one at the top. The tasks of one owner come scope by scope, the latest status first.
   */
  async list(query: NamedParameters): Promise<JsonObject> {
    const limit = Math.max(1, query.number('limit', MOST_TASKS) ?? 50);
    const states = statesOf(query);
    const age = query.number('olderThanMs', MOST_AGE_MS);
    const now = await this.#storage.now();
    const createdBefore = age === undefined ? undefined : now - age;
    const asked = { query, limit, states, createdBefore, now };
    return query.text('owner') === undefined ? this.#listAll(asked) : this.#listOwner(asked);
  }

  async #listAll({ query, limit, states, createdBefore, now }: Asked): Promise<JsonObject> {
    const { owners } = this.#storage;
    const isFiltered = states.length > 0 || createdBefore !== undefined || query.text('agent') !== undefined;
    const found: JsonObject[] = [];
    let place: PlaceOfAll | undefined = firstOfAll(states, placeOfAll(query.text('cursor')));
    for (let left = MOST_LOOKED_AT; left > 0 && place !== undefined; ) {
      const { hasEnded, cursor } = place;
      // Tasks of the agents of other servers may be in between.
      const most = isFiltered || left < MOST_LOOKED_AT ? left : limit;
      const range = { hasEnded, limit: most, ...(cursor !== undefined && { cursor }) };
      const page: OwnedTaskPage = await owners.allTasks(range);
      left -= page.tasks.length;
      for (const task of page.tasks) {
        place = { hasEnded, cursor: task.cursor };
        const isIn = states.length === 0 || states.includes(task.state);
        if (!isIn || !(task.createdAt < (createdBefore ?? Number.POSITIVE_INFINITY))) continue;
        if (!this.#isAsked(query, task.key.scope)) continue;
        found.push(summaryOf(task, now));
        if (found.length >= limit) return { tasks: found, next: JSON.stringify([hasEnded, task.cursor]) };
      }
      if (page.isLast) place = hasEnded ? undefined : firstOfAll(states, { hasEnded: true });
      else if (page.tasks.length === 0) break;
    }
    return { tasks: found, ...(place && { next: JSON.stringify([place.hasEnded, place.cursor ?? null]) }) };
  }

  async #listOwner({ query, limit, states, createdBefore, now }: Asked): Promise<JsonObject> {
    const found: JsonObject[] = [];
    let place = placeOf(query.text('cursor'));
    const { scopes, isLast } = await this.#scopes(place.scopes);
    for (const { scope, cursor } of scopes) {
      const { tasks: after } = place;
      if (this.#isAsked(query, scope) && scope.owner === query.text('owner')) {
        const { tasks, next } = await this.#storage.tasks({
          scope,
          orderBy: 'status',
          limit: limit - found.length,
          maxBytes: LIST_BYTES,
          artifacts: false,
          history: false,
          ...(states.length > 0 && { states }),
          ...(createdBefore !== undefined && { createdBefore }),
          ...(after !== undefined && { cursor: after }),
        });
        found.push(...tasks.map((task) => summaryOf(ownedTask(task), now)));
        if (next !== undefined) return { tasks: found, next: textOf({ scopes: place.scopes, tasks: next }) };
      }
      place = { scopes: cursor };
      if (found.length >= limit) return { tasks: found, next: textOf(place) };
    }
    return { tasks: found, ...(!isLast && { next: textOf(place) }) };
  }

  /** Counts of tasks by state, for a page of scopes. A storage may estimate them. */
  async counts(query: NamedParameters): Promise<JsonObject> {
    const { scopes, isLast } = await this.#scopes(placeOf(query.text('cursor')).scopes);
    const counts = new Map<TaskState, number>();
    const asked = scopes.filter(({ scope }) => this.#isAsked(query, scope));
    for (const { scope } of asked) {
      const totals = await Promise.all(TASK_STATES.map((state) => this.#count(scope, state)));
      for (const [at, state] of TASK_STATES.entries()) {
        const total = (counts.get(state) ?? 0) + (totals[at] ?? 0);
        if (total > 0) counts.set(state, total);
      }
    }
    const place = { scopes: scopes.at(-1)?.cursor };
    return { counts: Object.fromEntries(counts), ...(!isLast && { next: textOf(place) }) };
  }

  /**
   * A task with a stretch of its records.
   * @throws TaskNotFoundError
   */
  async get(query: NamedParameters, id: string): Promise<JsonObject> {
    const scope = this.#scopeOf(query);
    const after = query.number('after', Number.MAX_SAFE_INTEGER) ?? 0;
    const stored = this.#agents.includes(scope.agent) ? await this.#storage.task(scope, id) : undefined;
    if (stored === undefined) throw new TaskNotFoundError(id.slice(0, 200));
    const { records, floor, last } = await this.#storage.records({ scope, id }, after, RECORD_BYTES);
    const read = records.at(-1)?.seq ?? last;
    return {
      task: { ...summaryOf(ownedTask(stored), await this.#storage.now()), statusMessage: messageOf(stored) },
      records: records.map(({ seq, turn, text }) => ({ seq, turn, event: JSON.parse(text) as JsonObject })),
      floor,
      last,
      ...(read < last && { next: read }),
    };
  }

  /**
   * Deletes a task with all that hangs on it.
   * @throws TaskNotFoundError, InvalidParamsError while a turn holds a lease on it.
   */
  async delete(query: NamedParameters, id: string): Promise<JsonObject> {
    const scope = this.#scopeOf(query);
    const result = this.#agents.includes(scope.agent) ? await this.#storage.delete(scope, id) : 'not-found';
    if (result === 'not-found') throw new TaskNotFoundError(id.slice(0, 200));
    if (result === 'running') throw wrongParameter('id', 'is that of a running task: cancel it first');
    return { result };
  }

  #scopeOf(query: NamedParameters): Scope {
    const agent = this.#idOf(query.required('agent'));
    return { agent, tenant: query.text('tenant') ?? '', owner: query.text('owner') ?? null };
  }

  /** The next scopes, and true if the list ends with them. */
  async #scopes(cursor: string | undefined): Promise<{ scopes: readonly ListedScope[]; isLast: boolean }> {
    const range = { limit: MOST_SCOPES, ...(cursor !== undefined && { cursor }) };
    const scopes = await this.#storage.owners.listScopes(range);
    return { scopes, isLast: scopes.length < MOST_SCOPES };
  }

  #isAsked(query: NamedParameters, { agent }: Scope): boolean {
    const asked = query.text('agent');
    return this.#agents.includes(agent) && (asked === undefined || agent === this.#idOf(asked));
  }

  async #count(scope: Scope, state: TaskState): Promise<number> {
    const query = { scope, states: [state], orderBy: 'status', limit: 1, artifacts: false, history: false } as const;
    return (await this.#storage.tasks(query)).total;
  }
}

/** @throws InvalidParamsError for a text that is no state. */
function statesOf(query: NamedParameters): readonly TaskState[] {
  return query.texts('state').map((text) => {
    const state = TASK_STATES.find((one) => one === text);
    if (state === undefined) throw wrongParameter('state', 'must be such as TASK_STATE_WORKING');
    return state;
  });
}

/** The facts of a task. */
function ownedTask({ scope, task, ...facts }: StoredTask): Omit<OwnedTask, 'cursor'> {
  const { id, contextId = null, status } = task;
  return { ...facts, key: { scope, id }, contextId, state: status.state, statusTime: statusTime(status) };
}

/** The facts of a task as the API shows them. */
function summaryOf(task: Omit<OwnedTask, 'cursor'>, now: number): JsonObject {
  const { key, contextId, state, statusTime: since, createdAt, running, heldTurn, seq } = task;
  return {
    ...key.scope,
    id: key.id,
    contextId,
    state,
    createdAt: new Date(createdAt).toISOString(),
    ageMs: Math.max(0, now - createdAt),
    ...(since > 0 && { silentMs: Math.max(0, now - since) }),
    // A turn whose lease has ended waits for a replica that takes it over.
    lease: running ? 'held' : heldTurn > 0 ? 'ended' : 'none',
    lastRecord: seq,
  };
}

function messageOf({ task }: StoredTask): JsonObject | null {
  return (task.status.message as JsonObject | undefined) ?? null;
}

function textOf(place: Place): string {
  return JSON.stringify([place.scopes ?? null, place.tasks?.time ?? null, place.tasks?.id ?? null]);
}

/** @throws InvalidParamsError for a text that no page gave. */
function placeOf(text: string | undefined): Place {
  if (text === undefined) return {};
  const [scopes, time, id] = cursorParts(text);
  const tasks = typeof time === 'number' && typeof id === 'string' ? { time, id } : undefined;
  if (scopes === null || typeof scopes === 'string') return { ...(scopes !== null && { scopes }), tasks };
  throw noCursor();
}

/** @throws InvalidParamsError for a text that no page gave. */
function placeOfAll(text: string | undefined): PlaceOfAll {
  if (text === undefined) return { hasEnded: false };
  const [hasEnded, cursor] = cursorParts(text);
  if (typeof hasEnded !== 'boolean' || !(cursor === null || typeof cursor === 'string')) throw noCursor();
  return { hasEnded, ...(cursor !== null && { cursor }) };
}

/** The first place from this one on that can have tasks in these states. */
function firstOfAll(states: readonly TaskState[], place: PlaceOfAll): PlaceOfAll | undefined {
  const canHave = (hasEnded: boolean) => states.length === 0 || states.some((state) => isTerminal(state) === hasEnded);
  if (canHave(place.hasEnded)) return place;
  return !place.hasEnded && canHave(true) ? { hasEnded: true } : undefined;
}

/** @throws InvalidParamsError for a text that is no JSON list. */
function cursorParts(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(text);
    if (Array.isArray(parts)) return parts;
  } catch {
    // The same error as for JSON of another form.
  }
  throw noCursor();
}

function noCursor(): Error {
  return wrongParameter('cursor', 'is none that a page gave as next');
}
