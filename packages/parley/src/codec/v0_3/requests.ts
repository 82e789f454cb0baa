import type { OperationName } from '../../operations/operations.js';
import type { Dialect } from './dialect.js';
import { type Members, membersReader, objectReader } from './members.js';
import { messageReader } from './message.js';
import {
  DEFAULT_CONFIG_ID,
  readPushNotificationConfig,
  readTaskPushNotificationConfig,
} from './push-notification-config.js';

/** A list that has no pages is asked for as long as it can be. */
const WHOLE_LIST = 100;

/** How the request of each operation is read; whether its members are right is for the validator to say. */
export type RequestReaders = { readonly [Name in OperationName]: (request: Members) => object };

/** See `RequestReaders`. */
export function requestReaders(dialect: Dialect): RequestReaders {
  const sendMessage = membersReader([
    ['message', ['message', 'request'], objectReader(messageReader(dialect))],
    ['configuration', undefined, objectReader(readConfiguration)],
    ['metadata'],
  ]);
  const readConfig = membersReader([
    ['taskId', ['id']],
    ['id', ['pushNotificationConfigId']],
  ]);
  const readList = membersReader([
    ['taskId', ['id']],
    ...(dialect.kinds ? [] : ([['pageSize'], ['pageToken']] as const)),
  ]);
  return {
    sendMessage,
    sendStreamingMessage: sendMessage,
    getTask: membersReader([['id'], ['historyLength']]),
    cancelTask: membersReader([['id'], ['metadata']]),
    subscribeToTask: membersReader([['id']]),
    createTaskPushNotificationConfig: readTaskPushNotificationConfig,
    getTaskPushNotificationConfig: (request) => ({ id: DEFAULT_CONFIG_ID, ...readConfig(request) }),
    listTaskPushNotificationConfigs: (request) => ({
      ...(dialect.kinds && { pageSize: WHOLE_LIST }),
      ...readList(request),
    }),
    deleteTaskPushNotificationConfig: readConfig,
    // Neither has a request of its own in these versions, or anything in it.
    listTasks: () => ({}),
    getExtendedAgentCard: () => ({}),
  };
}

/** Who does not say whether to wait waits: so did the agents of that time. */
const readConfiguration = membersReader([
  ['acceptedOutputModes'],
  ['taskPushNotificationConfig', ['pushNotificationConfig', 'pushNotification'], objectReader(readWebhook)],
  ['historyLength'],
  ['returnImmediately', ['blocking'], (blocking) => (typeof blocking === 'boolean' ? !blocking : blocking)],
]);

function readWebhook(webhook: Members): object {
  return { id: DEFAULT_CONFIG_ID, ...readPushNotificationConfig(webhook) };
}
