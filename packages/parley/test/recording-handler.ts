import type { OperationName } from '../src/operations/operations.js';
import type { RequestHandler } from '../src/server/request-handler.js';
import type { ServerCallContext } from '../src/server/server-call-context.js';
import type { StreamItem } from '../src/task/stream-item.js';

/** One call as it reached the handler. */
export interface RecordedCall {
  readonly operation: OperationName;
  readonly request: unknown;
  readonly context: ServerCallContext;
}

/** Replaces the default answer of the handler. */
export type Behaviour = (request: unknown, context: ServerCallContext) => unknown;

/** A task as the handler answers it. */
export const TASK = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-02T03:04:05.678Z' },
} as const;

/** A push configuration as the handler answers it. */
export const CONFIG = { id: 'p1', taskId: 't1', url: 'https://hook.example/x' } as const;

/** The answers given unless a test says otherwise. */
export const ANSWERS = {
  sendMessage: { task: TASK },
  getTask: TASK,
  listTasks: { tasks: [TASK], nextPageToken: '', pageSize: 50, totalSize: 1 },
  cancelTask: TASK,
  createTaskPushNotificationConfig: CONFIG,
  getTaskPushNotificationConfig: CONFIG,
  listTaskPushNotificationConfigs: { configs: [CONFIG], nextPageToken: '' },
  deleteTaskPushNotificationConfig: undefined,
  getExtendedAgentCard: { name: 'extended' },
} as const;

/** The events of every stream unless a test says otherwise. */
export const EVENTS: readonly StreamItem[] = [
  { seq: 1, event: { task: TASK } },
  {
    seq: 2,
    event: { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } } },
  },
];

/** A handler at the port: keeps the calls it gets and answers what a test wants. */
export class RecordingHandler implements RequestHandler {
  readonly calls: RecordedCall[] = [];
  /** By operation; returns the answer, or throws. */
  readonly behaviours: { [Name in OperationName]?: Behaviour } = {};

  readonly sendMessage = this.#unary('sendMessage');
  readonly getTask = this.#unary('getTask');
  readonly listTasks = this.#unary('listTasks');
  readonly cancelTask = this.#unary('cancelTask');
  readonly createTaskPushNotificationConfig = this.#unary('createTaskPushNotificationConfig');
  readonly getTaskPushNotificationConfig = this.#unary('getTaskPushNotificationConfig');
  readonly listTaskPushNotificationConfigs = this.#unary('listTaskPushNotificationConfigs');
  readonly deleteTaskPushNotificationConfig = this.#unary('deleteTaskPushNotificationConfig');
  readonly getExtendedAgentCard = this.#unary('getExtendedAgentCard');
  readonly sendStreamingMessage = this.#streaming('sendStreamingMessage');
  readonly subscribeToTask = this.#streaming('subscribeToTask');

  #unary(operation: Exclude<OperationName, 'sendStreamingMessage' | 'subscribeToTask'>) {
    return async (request: unknown, context: ServerCallContext): Promise<never> => {
      this.calls.push({ operation, request, context });
      const behaviour = this.behaviours[operation] ?? (() => ANSWERS[operation]);
      return (await behaviour(request, context)) as never;
    };
  }

  #streaming(operation: 'sendStreamingMessage' | 'subscribeToTask') {
    return (request: unknown, context: ServerCallContext): AsyncIterable<StreamItem> => {
      this.calls.push({ operation, request, context });
      const behaviour = this.behaviours[operation] ?? (() => streamOf(EVENTS));
      return behaviour(request, context) as AsyncIterable<StreamItem>;
    };
  }
}

/** A stream of ready items, then the end or an error. */
export async function* streamOf(items: readonly StreamItem[], failure?: unknown): AsyncGenerator<StreamItem> {
  yield* items;
  if (failure !== undefined) throw failure;
}
