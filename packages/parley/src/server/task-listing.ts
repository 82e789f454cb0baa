import type { ListTasksRequest, ListTasksResponse } from '../model/task-requests.js';
import type { Scope, TaskStorage } from '../store/task-storage.js';
import { TaskList } from '../task/task-list.js';
import { decodePageToken, encodePageToken } from './page-token.js';

const DEFAULT_PAGE_SIZE = 50;

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
    ...(statusTimestampAfter && { statusAfter: Date.parse(statusTimestampAfter) }),
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
