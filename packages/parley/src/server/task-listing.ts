import type { ListTasksRequest, ListTasksResponse } from '../model/task-requests.js';
import type { Scope } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import { DEFAULT_PAGE_SIZE, TaskList } from '../task/task-list.js';
import { decodePageToken, encodePageToken } from './page-token.js';

/** One page of the tasks of a scope, newest status first (Spec §3.1.4). */
export async function listTasks(
  storage: TaskStorage,
  options: {
    readonly scope: Scope;
    readonly request: ListTasksRequest;
    readonly defaultHistory: number;
    readonly maxBytes: number;
  },
): Promise<ListTasksResponse> {
  const { scope, request, defaultHistory, maxBytes } = options;
  const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE;
  const historyLength = request.historyLength ?? defaultHistory;
  const includeArtifacts = request.includeArtifacts ?? false;
  const { status, statusTimestampAfter } = request;
  const page = await storage.tasks({
    scope,
    ...(request.contextId && { contextId: request.contextId }),
    ...(status && status !== 'TASK_STATE_UNSPECIFIED' && { states: [status] }),
    ...(statusTimestampAfter && { statusAfter: firstMsFrom(statusTimestampAfter) }),
    ...(request.pageToken && { cursor: decodePageToken(request.pageToken, options) }),
    orderBy: 'status',
    limit: pageSize,
    maxBytes,
    artifacts: includeArtifacts,
    history: historyLength > 0,
  });
  const nextPageToken = page.next ? encodePageToken(page.next, options) : '';
  return new TaskList(page, { historyLength, includeArtifacts }, { nextPageToken, pageSize, totalSize: page.total });
}

/** Returns the first whole millisecond that is not before a timestamp: stored times have no smaller parts. */
function firstMsFrom(timestamp: string): number {
  return Date.parse(timestamp) + (/\.\d{3}0*[1-9]/.test(timestamp) ? 1 : 0);
}
