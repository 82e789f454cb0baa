import type { Task, TaskState } from 'parley-a2a';
import { DEFAULT_PAGE_SIZE, readTaskState } from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';
import { invalid, members } from './session-values.js';

/** One page of tasks with the shapes of 0.3. */
export interface PlainPage {
  readonly tasks: readonly PlainTask[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

type PlainTask = Pick<Task, 'id'> & { readonly status: { readonly state: string; readonly timestamp?: string } };

/** Reads a page of tasks by a request of ListTasks. */
type ReadPage = (request: object) => Promise<PlainPage>;

/** A part of the tasks that a filter matches. */
interface PlainList {
  readonly tasks: readonly PlainTask[];
  readonly total: number;
  readonly hasMore: boolean;
}

const PAGE_SIZE = 100;
const MOST_LIMIT = 1000;
/** Maximum number of tasks that one list reads. */
const MOST_TASKS = 5000;

/** The filter of a list. */
interface PlainFilter {
  readonly contextId: unknown;
  readonly limit: number;
  readonly offset: number;
  readonly states: readonly TaskState[];
  readonly createdAfter: number | undefined;
  readonly createdBefore: number | undefined;
}

/**
 * Reads the argument of a list.
 * @throws InvalidParamsError
 */
export function readFilter(given: unknown): PlainFilter {
  const { contextId, limit, offset, filter } = given === undefined || given === null ? {} : members(given, 'params');
  const { states, createdAfter, createdBefore } =
    filter === undefined || filter === null ? {} : members(filter, 'filter');
  return {
    contextId,
    limit: whole(limit, 'limit', DEFAULT_PAGE_SIZE, MOST_LIMIT),
    offset: whole(offset, 'offset', 0, MOST_TASKS),
    states: readStates(states),
    createdAfter: readTime(createdAfter, 'filter.createdAfter'),
    createdBefore: readTime(createdBefore, 'filter.createdBefore'),
  };
}

function whole(given: unknown, field: string, byDefault: number, most: number): number {
  if (given === undefined || given === null) return byDefault;
  if (!Number.isInteger(given) || (given as number) < 0 || (given as number) > most)
    throw invalid(field, `must be a whole number up to ${most}`);
  return given as number;
}

function readStates(given: unknown): readonly TaskState[] {
  if (given === undefined || given === null) return [];
  const states = Array.isArray(given) ? given.map(readTaskState) : [];
  if (!Array.isArray(given) || states.includes('TASK_STATE_UNSPECIFIED'))
    throw invalid('filter.states', 'must be an array of task states');
  return states;
}

function readTime(given: unknown, field: string): number | undefined {
  if (given === undefined || given === null) return undefined;
  const isTime = typeof given === 'string' || typeof given === 'number' || given instanceof Date;
  const time = isTime ? new Date(given).getTime() : Number.NaN;
  if (Number.isNaN(time)) throw invalid(field, 'must be a time');
  return time;
}

/**
 * Reads the pages that a filter needs. The engine filters by context and by one state. The rest is filtered here, over
 * a bounded number of tasks.
 * @throws A2AError INVALID_PARAMS if there are more tasks.
 */
export async function listedTasks(filter: PlainFilter, readPage: ReadPage): Promise<PlainList> {
  const { contextId, limit, offset, states, createdAfter, createdBefore } = filter;
  const [status] = states.length === 1 ? states : [];
  const isExact = states.length <= 1 && createdAfter === undefined && createdBefore === undefined;
  const request = {
    contextId,
    status,
    pageSize: PAGE_SIZE,
    includeArtifacts: true,
    // A status is never older than its task.
    statusTimestampAfter: createdAfter === undefined ? undefined : new Date(createdAfter).toISOString(),
  };
  const found: PlainTask[] = [];
  let looked = 0;
  for (let pageToken: string | undefined; ; ) {
    const page = await readPage({ ...request, pageToken });
    looked += page.tasks.length;
    found.push(...(isExact ? page.tasks : page.tasks.filter((task) => isMatch(task, filter))));
    const isOver = page.nextPageToken === '' || page.tasks.length === 0;
    const isEnough = isExact && found.length >= offset + limit;
    if (isOver || isEnough) {
      const total = isExact ? page.totalSize : found.length;
      return { tasks: found.slice(offset, offset + limit), total, hasMore: offset + limit < total };
    }
    if (looked >= MOST_TASKS)
      throw new A2AError(
        'INVALID_PARAMS',
        `The filter needs more than ${MOST_TASKS} tasks: name a contextId or one state`,
      );
    pageToken = page.nextPageToken;
  }
}

function isMatch({ id, status }: PlainTask, { states, createdAfter, createdBefore }: PlainFilter): boolean {
  const created = createdAt(id) ?? Date.parse(status.timestamp ?? '');
  return (
    (states.length === 0 || states.includes(readTaskState(status.state))) &&
    (createdAfter === undefined || created > createdAfter) &&
    (createdBefore === undefined || created < createdBefore)
  );
}

/** The time in a UUIDv7, in ms; `undefined` for other ids. */
function createdAt(id: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}
