import type { OperationName } from '../../operations/operations.js';
import type { Dialect } from './dialect.js';
import { converted, type Members, member, present } from './members.js';
import { readMessage } from './message.js';
import {
  DEFAULT_CONFIG_ID,
  readPushNotificationConfig,
  readTaskPushNotificationConfig,
} from './push-notification-config.js';

/** A list that has no pages is asked for as long as it can be. */
const WHOLE_LIST = 100;

/** The request of an operation with the members of the model; whether they are right is for the validator to say. */
export function readRequest(dialect: Dialect, operation: OperationName, request: Members): object {
  switch (operation) {
    case 'sendMessage':
    case 'sendStreamingMessage':
      return readSendMessage(dialect, request);
    case 'getTask':
      return present({ id: member(request, 'id'), historyLength: member(request, 'historyLength') });
    case 'cancelTask':
      return present({ id: member(request, 'id'), metadata: member(request, 'metadata') });
    case 'subscribeToTask':
      return present({ id: member(request, 'id') });
    case 'createTaskPushNotificationConfig':
      return readTaskPushNotificationConfig(request);
    case 'listTaskPushNotificationConfigs':
      return present({
        taskId: member(request, 'id'),
        ...(dialect.kinds ? { pageSize: WHOLE_LIST } : readPage(request)),
      });
    case 'getTaskPushNotificationConfig':
      return present({
        taskId: member(request, 'id'),
        id: member(request, 'pushNotificationConfigId') ?? DEFAULT_CONFIG_ID,
      });
    case 'deleteTaskPushNotificationConfig':
      return present({ taskId: member(request, 'id'), id: member(request, 'pushNotificationConfigId') });
    default:
      return {};
  }
}

function readPage(request: Members): object {
  return { pageSize: member(request, 'pageSize'), pageToken: member(request, 'pageToken') };
}

function readSendMessage(dialect: Dialect, request: Members): object {
  return present({
    message: converted(member(request, 'message', 'request'), (message) => readMessage(dialect, message)),
    configuration: converted(member(request, 'configuration'), readConfiguration),
    metadata: member(request, 'metadata'),
  });
}

/** Who does not say whether to wait waits: so did the agents of that time. */
function readConfiguration(configuration: Members): object {
  const webhook = member(configuration, 'pushNotificationConfig', 'pushNotification');
  const blocking = member(configuration, 'blocking');
  return present({
    acceptedOutputModes: member(configuration, 'acceptedOutputModes'),
    taskPushNotificationConfig: converted(webhook, (config) => ({
      id: DEFAULT_CONFIG_ID,
      ...readPushNotificationConfig(config),
    })),
    historyLength: member(configuration, 'historyLength'),
    returnImmediately: typeof blocking === 'boolean' ? !blocking : blocking,
  });
}
