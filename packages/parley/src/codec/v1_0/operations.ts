import type { OPERATIONS, OperationName } from '../../operations/operations.js';
import type { OperationNames } from '../operation-names.js';

const CONFIGS = ['tasks', '{taskId}', 'pushNotificationConfigs'];
const CONFIG = [...CONFIGS, '{id}'];

/** One operation on the wire of version 1.0. */
interface Operation1_0<Name extends OperationName> extends OperationNames {
  /** The first is also the name in gRPC (Spec §9.4). */
  readonly methods: readonly [Capitalize<Name>, ...string[]];
  /** Each path may have the tenant before it (Spec §5.3, §11.3). */
  readonly routes: OperationNames['routes'];
  /** The schema of the response or event: the key of `ENCODERS` in a server and of `RESPONSE_READERS` in a client. */
  readonly response: (typeof OPERATIONS)[Name]['response'];
}

/**
 * All operations of version 1.0. The JSON of this version is the model. A request is decoded by its schema in
 * `OPERATIONS`. A response is encoded and read by the schema of its row.
 */
export const OPERATIONS_1_0: { readonly [Name in OperationName]: Operation1_0<Name> } = {
  sendMessage: {
    methods: ['SendMessage'],
    routes: [{ method: 'POST', path: ['message:send'], body: 'required' }],
    response: 'SendMessageResponse',
  },
  sendStreamingMessage: {
    methods: ['SendStreamingMessage'],
    routes: [{ method: 'POST', path: ['message:stream'], body: 'required' }],
    response: 'StreamResponse',
  },
  getTask: {
    methods: ['GetTask'],
    routes: [{ method: 'GET', path: ['tasks', '{id}'], body: 'none' }],
    response: 'Task',
  },
  listTasks: {
    methods: ['ListTasks'],
    routes: [{ method: 'GET', path: ['tasks'], body: 'none' }],
    response: 'ListTasksResponse',
  },
  cancelTask: {
    methods: ['CancelTask'],
    routes: [{ method: 'POST', path: ['tasks', '{id}:cancel'], body: 'optional' }],
    response: 'Task',
  },
  subscribeToTask: {
    methods: ['SubscribeToTask'],
    // A GET in the protocol definition, a POST in its prose. More servers know the POST.
    routes: [
      { method: 'POST', path: ['tasks', '{id}:subscribe'], body: 'optional' },
      { method: 'GET', path: ['tasks', '{id}:subscribe'], body: 'none' },
    ],
    response: 'StreamResponse',
  },
  createTaskPushNotificationConfig: {
    // Some clients keep the second name from before 1.0.
    methods: ['CreateTaskPushNotificationConfig', 'SetPushNotificationConfig'],
    routes: [{ method: 'POST', path: CONFIGS, body: 'required' }],
    response: 'TaskPushNotificationConfig',
  },
  getTaskPushNotificationConfig: {
    methods: ['GetTaskPushNotificationConfig'],
    routes: [{ method: 'GET', path: CONFIG, body: 'none' }],
    response: 'TaskPushNotificationConfig',
  },
  listTaskPushNotificationConfigs: {
    methods: ['ListTaskPushNotificationConfigs'],
    routes: [{ method: 'GET', path: CONFIGS, body: 'none' }],
    response: 'ListTaskPushNotificationConfigsResponse',
  },
  deleteTaskPushNotificationConfig: {
    methods: ['DeleteTaskPushNotificationConfig'],
    routes: [{ method: 'DELETE', path: CONFIG, body: 'none' }],
    response: undefined,
  },
  getExtendedAgentCard: {
    methods: ['GetExtendedAgentCard'],
    routes: [{ method: 'GET', path: ['extendedAgentCard'], body: 'none' }],
    response: 'AgentCard',
  },
};
