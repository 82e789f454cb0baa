import type { StreamResponse } from '../../model/stream-response.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import type { OperationNames } from '../operation-names.js';
import {
  readAnswer,
  readCard,
  readConfig,
  readConfigPage,
  readEvent,
  readNothing,
  readTask,
  readTaskPage,
} from './read-responses.js';

const CONFIGS = ['tasks', '{taskId}', 'pushNotificationConfigs'];
const CONFIG = [...CONFIGS, '{id}'];

/** One operation on the wire of version 1.0. */
interface Operation1_0<Name extends OperationName> extends OperationNames {
  /** The first is also the name in gRPC (Spec §9.4). */
  readonly methods: readonly [Capitalize<Name>, ...string[]];
  /** Each path may have the tenant before it (Spec §5.3, §11.3). */
  readonly routes: OperationNames['routes'];
  /**
   * Checks a received response, or one event of a stream; undefined: an unknown kind of event.
   * @throws InvalidAgentResponseError naming the fault.
   */
  readonly read: (value: unknown) => OperationTypes[Name]['response'] | StreamResponse | undefined;
}

/**
 * All operations of version 1.0. The JSON of this version is the model: a server decodes and encodes by the schemas
 * that `OPERATIONS` names.
 */
export const OPERATIONS_1_0: { readonly [Name in OperationName]: Operation1_0<Name> } = {
  sendMessage: {
    methods: ['SendMessage'],
    routes: [{ method: 'POST', path: ['message:send'], body: 'required' }],
    read: readAnswer,
  },
  sendStreamingMessage: {
    methods: ['SendStreamingMessage'],
    routes: [{ method: 'POST', path: ['message:stream'], body: 'required' }],
    read: readEvent,
  },
  getTask: {
    methods: ['GetTask'],
    routes: [{ method: 'GET', path: ['tasks', '{id}'], body: 'none' }],
    read: readTask,
  },
  listTasks: {
    methods: ['ListTasks'],
    routes: [{ method: 'GET', path: ['tasks'], body: 'none' }],
    read: readTaskPage,
  },
  cancelTask: {
    methods: ['CancelTask'],
    routes: [{ method: 'POST', path: ['tasks', '{id}:cancel'], body: 'optional' }],
    read: readTask,
  },
  subscribeToTask: {
    methods: ['SubscribeToTask'],
    // A GET in the protocol definition, a POST in its prose. More servers know the POST.
    routes: [
      { method: 'POST', path: ['tasks', '{id}:subscribe'], body: 'optional' },
      { method: 'GET', path: ['tasks', '{id}:subscribe'], body: 'none' },
    ],
    read: readEvent,
  },
  createTaskPushNotificationConfig: {
    // Some clients keep the second name from before 1.0.
    methods: ['CreateTaskPushNotificationConfig', 'SetPushNotificationConfig'],
    routes: [{ method: 'POST', path: CONFIGS, body: 'required' }],
    read: readConfig,
  },
  getTaskPushNotificationConfig: {
    methods: ['GetTaskPushNotificationConfig'],
    routes: [{ method: 'GET', path: CONFIG, body: 'none' }],
    read: readConfig,
  },
  listTaskPushNotificationConfigs: {
    methods: ['ListTaskPushNotificationConfigs'],
    routes: [{ method: 'GET', path: CONFIGS, body: 'none' }],
    read: readConfigPage,
  },
  deleteTaskPushNotificationConfig: {
    methods: ['DeleteTaskPushNotificationConfig'],
    routes: [{ method: 'DELETE', path: CONFIG, body: 'none' }],
    read: readNothing,
  },
  getExtendedAgentCard: {
    methods: ['GetExtendedAgentCard'],
    routes: [{ method: 'GET', path: ['extendedAgentCard'], body: 'none' }],
    read: readCard,
  },
};
