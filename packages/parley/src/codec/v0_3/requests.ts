import type {
  GetTaskPushNotificationConfigRequest,
  TaskPushNotificationConfig,
} from '../../model/push-notification-config.js';
import type { SendMessageConfiguration, SendMessageRequest } from '../../model/send-message-request.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import type { Dialect } from './dialect.js';
import { type Members, membersReader, objectReader } from './members.js';
import { messageReader, writeMessage } from './message.js';
import {
  DEFAULT_CONFIG_ID,
  readPushNotificationConfig,
  readTaskPushNotificationConfig,
  writePushNotificationConfig,
  writeTaskPushNotificationConfig,
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

/**
 * The request of an operation as JSON-RPC sends it, and HTTP+JSON puts it into path, query and body. Whether to wait is always said: agents
 * of that time differ in what they take its absence for. Tenants did not exist yet.
 */
export function writeRequest<Name extends OperationName>(
  dialect: Dialect,
  operation: Name,
  request: OperationTypes[Name]['request'],
): Members {
  switch (operation) {
    case 'sendMessage':
    case 'sendStreamingMessage': {
      const { message, configuration, metadata } = request as SendMessageRequest;
      return {
        [dialect.request]: writeMessage(dialect, message),
        configuration: writeConfiguration(dialect, configuration),
        metadata,
      };
    }
    case 'createTaskPushNotificationConfig': {
      const config = request as TaskPushNotificationConfig;
      const { taskId, id: configId = DEFAULT_CONFIG_ID } = config;
      const written = writeTaskPushNotificationConfig(dialect, config);
      // The proto has the configuration as body; the servers of that time read the whole request there.
      return dialect.kinds ? { taskId, ...written } : { taskId, parent: `tasks/${taskId}`, configId, config: written };
    }
    case 'getTaskPushNotificationConfig':
    case 'listTaskPushNotificationConfigs':
    case 'deleteTaskPushNotificationConfig': {
      const { taskId, id } = request as GetTaskPushNotificationConfigRequest;
      return { id: taskId, pushNotificationConfigId: id };
    }
    default: {
      const { tenant: _, ...rest } = request as { readonly tenant?: string };
      return rest;
    }
  }
}

function writeConfiguration(dialect: Dialect, configuration: SendMessageConfiguration = {}): object {
  const { acceptedOutputModes = [], taskPushNotificationConfig, historyLength, returnImmediately } = configuration;
  const webhook = taskPushNotificationConfig && writePushNotificationConfig(taskPushNotificationConfig);
  return {
    acceptedOutputModes,
    blocking: returnImmediately !== true,
    [dialect.kinds ? 'pushNotificationConfig' : 'pushNotification']: webhook,
    historyLength,
  };
}
