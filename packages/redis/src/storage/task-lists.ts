import {
  ABANDONED_BYTES,
  LIST_BOUNDS,
  type ListCursor,
  PARTITIONS,
  PageBudget,
  ShapedTask,
  type StoredTask,
  stateNumber,
  storedTask,
  type TaskKey,
  type TaskPage,
  type TaskQuery,
  taskOfPage,
} from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import { type ScopePlace, taskKeyOf } from './redis-keys.js';
import { headOf, storedOf, type TaskContent } from './task-texts.js';
import type { UnreadableTasks } from './unreadable-tasks.js';

type ListedTask = readonly [id: string, time: string, isWhole: 0 | 1, content: TaskContent];
/** The answer of the script: see `LIST`. */
type ListAnswer = readonly [
  now: string,
  tasks: readonly ListedTask[],
  end: 0 | 1 | 2,
  time?: string,
  id?: string,
  offset?: string,
];
type CountAnswer = readonly [count: number, time?: string, id?: string, rest?: string];

/** Maximum number of tasks that one script reads. It then takes a few milliseconds, and does not block other calls. */
const LOOKED_AT = 2_000;
/** Maximum number of tasks that are counted for a total. Above it, the total is estimated. */
const COUNTED = 20_000;
/** Number of partitions that are read concurrently. */
const TOGETHER = 64;

/** The lists of tasks. A list over many tasks needs several scripts. */
export class RedisTaskLists {
  readonly #calls: RedisCalls;
  readonly #unreadable: UnreadableTasks;

  constructor(calls: RedisCalls, unreadable: UnreadableTasks) {
    this.#calls = calls;
    this.#unreadable = unreadable;
  }

  async page(query: TaskQuery): Promise<TaskPage> {
    const [total, page] = await Promise.all([this.#total(query), this.#page(query)]);
    return { ...page, total };
  }

  async abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]> {
    if (agents.length === 0 || limit <= 0) return [];
    // Repeated with a higher limit, because tasks that cannot be read may come first.
    for (let wanted = limit; ; wanted *= 2) {
      const { found, isCut } = await this.#waiting(agents, waitedMs, wanted);
      const tasks = await this.#readAll(found, limit);
      if (tasks.length > 0 || !isCut) return tasks;
    }
  }

  /** Returns the tasks that wait for their callers, at most `limit` of each partition. */
  async #waiting(
    agents: readonly string[],
    waitedMs: number,
    limit: number,
  ): Promise<{ readonly found: readonly TaskKey[]; readonly isCut: boolean }> {
    const { keys } = this.#calls;
    const args = [waitedMs, limit, ...agents.map((agent) => JSON.stringify(agent))];
    const found: { readonly key: TaskKey; readonly time: number }[] = [];
    let isCut = false;
    for (let first = 0; first < PARTITIONS; first += TOGETHER) {
      const asked = Array.from({ length: Math.min(TOGETHER, PARTITIONS - first) }, (_, at) => {
        const place = { base: keys.base(first + at), key: keys.count(first + at) };
        return this.#calls.run<readonly string[]>('abandoned', place, args);
      });
      for (const answer of await Promise.all(asked)) {
        if (answer.length >= 2 * limit) isCut = true;
        for (let at = 0; at < answer.length; at += 2) {
          found.push({ key: taskKeyOf(answer[at] ?? ''), time: Number(answer[at + 1]) });
        }
      }
    }
    found.sort((one, other) => one.time - other.time);
    return { found: found.map(({ key }) => key), isCut };
  }

  /** Reads tasks in their order, up to a limit, and up to the maximum bytes of a page. */
  async #readAll(found: readonly TaskKey[], limit: number): Promise<readonly StoredTask[]> {
    const { keys } = this.#calls;
    const budget = new PageBudget(ABANDONED_BYTES);
    const tasks: StoredTask[] = [];
    for (const key of found) {
      if (tasks.length >= limit) break;
      const place = keys.ofTask(key);
      const [now, content] = await this.#calls.run<readonly [string, TaskContent | null]>('readTask', place, [
        place.name,
      ]);
      // The task may have a turn now. Then the later write that would end it is refused.
      if (content === null) continue;
      if (!budget.takes(bytesOf(content))) break;
      const task = this.#unreadable.readable(key, () => storedOf(key, content, Number(now)));
      if (task !== undefined) tasks.push(task);
    }
    return tasks;
  }

  async #page(query: TaskQuery): Promise<Omit<TaskPage, 'total'>> {
    const { scope, limit, maxBytes = Number.MAX_SAFE_INTEGER } = query;
    const tasks: StoredTask[] = [];
    if (limit <= 0) return { tasks };
    const place = this.#calls.keys.ofScope(scope);
    const where = { base: place.base, key: this.#calls.keys.count(place.partition) };
    let cursor = query.cursor;
    let offset = query.offset ?? 0;
    let left = Math.min(maxBytes, Number.MAX_SAFE_INTEGER);
    let passed = 0;
    for (;;) {
      const args = [
        ...walkFields(place, query, cursor),
        offset,
        limit - passed,
        left,
        query.artifacts ? 1 : 0,
        query.history ? 1 : 0,
        passed > 0 ? 1 : 0,
      ];
      const [now, found, end, time, id, rest] = await this.#calls.run<ListAnswer>('list', where, args);
      for (const listed of found) {
        passed += 1;
        left -= bytesOf(listed[3]);
        cursor = { time: Number(listed[1]), id: listed[0] };
        const key = { scope, id: listed[0] };
        const task = this.#unreadable.readable(key, () => listedTask(key, listed, query, Number(now)));
        if (task !== undefined) tasks.push(task);
      }
      if (end === 0) return { tasks };
      if (end === 1) return { tasks, ...(cursor && { next: cursor }) };
      cursor = { time: Number(time), id: id ?? '' };
      offset = Number(rest);
      left = Math.max(0, left);
    }
  }

  async #total(query: TaskQuery): Promise<number> {
    const place = this.#calls.keys.ofScope(query.scope);
    const where = { base: place.base, key: this.#calls.keys.count(place.partition) };
    const most = query.exactTotal === true ? Number.POSITIVE_INFINITY : COUNTED;
    let total = 0;
    let cursor: ListCursor | undefined;
    for (let looked = LOOKED_AT; ; looked += LOOKED_AT) {
      const args = walkFields(place, query, cursor);
      const [count, time, id, rest] = await this.#calls.run<CountAnswer>('count', where, args);
      total += count;
      if (time === undefined || id === undefined) return total;
      if (looked >= most) return total + Math.round((total / looked) * Number(rest));
      cursor = { time: Number(time), id };
    }
  }
}

/** Returns the arguments of `WALK`. An empty text means absent. */
function walkFields(place: ScopePlace, query: TaskQuery, cursor: ListCursor | undefined): readonly (string | number)[] {
  const { orderBy, contextId, states = [] } = query;
  return [
    place.scope,
    orderBy,
    contextId === undefined ? '' : JSON.stringify(contextId),
    [...new Set(states)].map(stateNumber).join(','),
    ...LIST_BOUNDS.map(({ name }) => query[name] ?? ''),
    cursor?.time ?? '',
    cursor?.id ?? '',
    LOOKED_AT,
  ];
}

function listedTask(key: TaskKey, [, , isWhole, content]: ListedTask, query: TaskQuery, now: number): StoredTask {
  if (isWhole === 1) {
    const stored = storedOf(key, content, now);
    return { ...stored, task: taskOfPage(stored.task, query) };
  }
  const [numbers, node, context, status, metadata] = content[0];
  const head = headOf([numbers, node, context]);
  if (head === undefined) throw new Error(`The task ${key.id} has no head`);
  const task = ShapedTask.parse({
    id: key.id,
    contextId: head.contextId ?? undefined,
    status,
    metadata: metadata ?? undefined,
    history: undefined,
    artifacts: undefined,
  });
  return storedTask({ scope: key.scope, task }, head, now);
}

function bytesOf([fields, records]: TaskContent): number {
  let bytes = 0;
  for (const field of fields) bytes += field?.length ?? 0;
  for (const record of records) bytes += record.length;
  return bytes;
}
