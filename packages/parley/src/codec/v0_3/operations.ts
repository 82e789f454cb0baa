import { UnsupportedOperationError } from '../../errors/spec-errors.js';
import type { AgentCard } from '../../model/agent-card.js';
import { isObject } from '../../model/json.js';
import type {
  GetTaskPushNotificationConfigRequest,
  TaskPushNotificationConfig,
} from '../../model/push-notification-config.js';
import type { SendMessageConfiguration, SendMessageRequest } from '../../model/send-message-request.js';
import type { Task } from '../../model/task.js';
import type { OperationName, OperationTypes, StreamingOperationName } from '../../operations/operations.js';
import type { OperationNames } from '../operation-names.js';
import type { Route } from '../wire-codec.js';
import { writeAgentCard, writeProtoCard } from './agent-card.js';
import type { Dialect } from './dialect.js';
import { listReader, type Members, membersReader, objectReader, type Read } from './members-reader.js';
import { messageReader, writeMessage } from './message.js';
import {
  DEFAULT_CONFIG_ID,
  taskWebhookReader,
  webhookReader,
  writePushNotificationConfig,
  writeTaskPushNotificationConfig,
} from './push-notification-config.js';
import { kindViolations, type RequestFields } from './request-violations.js';
import { streamResponseReader, writeStreamResponse } from './stream-response.js';
import { taskReader, writeTask } from './task.js';

/** One operation on the wire of a version before 1.0, with the conversions from and to the model. */
export interface OldOperation<Name extends OperationName> extends OperationNames, RequestFields {
  /** Routes for JSON-RPC clients if an agent lacks the method, relative to the folder of the interface url. */
  readonly routesBesideMethods?: readonly Route[];
  /** Reads a request; the validator of the model checks its members. */
  readonly decode: (request: Members) => object;
  /** Writes the request for JSON-RPC. HTTP+JSON distributes its members over path, query and body. */
  readonly encodeRequest: (request: OperationTypes[Name]['request']) => Members;
  /** Writes the response. A streaming operation has none: the codec writes its events. */
  readonly encode: Name extends StreamingOperationName
    ? undefined
    : (response: OperationTypes[Name]['response']) => unknown;
  /** Reads the response into the form of 1.0, in which the client checks it. */
  readonly read: Name extends StreamingOperationName ? undefined : Read;
}

/** All operations of a version before 1.0; `undefined` says that the version lacks the operation. */
export type OldOperations = { readonly [Name in OperationName]: OldOperation<Name> | undefined };

/**
 * The row of an operation.
 * @throws UnsupportedOperationError for an operation that the version lacks.
 */
export function operationOf(operations: OldOperations, operation: OperationName): OldOperation<OperationName> {
  const row = operations[operation];
  if (row === undefined) throw new UnsupportedOperationError(`This version has no ${operation}`);
  return row as OldOperation<OperationName>;
}

const TASKS = ['v1', 'tasks'];
const CONFIGS = [...TASKS, '{id}', 'pushNotificationConfigs'];
const CONFIG = [...CONFIGS, '{pushNotificationConfigId}'];
const SUBSCRIBE = [...TASKS, '{id}:subscribe'];

/** The place of the extended card in 0.2.5. Over JSON-RPC it is relative to the folder of the interface url. */
const EXTENDED_CARD_0_2: Route = { method: 'GET', path: ['agent', 'authenticatedExtendedCard'], body: 'none' };

/** Version 0.3 has no pages of lists over JSON-RPC, so the codec asks the engine for the largest page. */
const WHOLE_LIST = 100;

/** The paths of fields in requests that name the task `id`. */
const CONFIG_FIELDS = [
  [/^id$/, 'pushNotificationConfigId'],
  [/^taskId$/, 'id'],
] as const;

/**
 * The operations of 0.3 in one of its dialects. Paths begin with `/v1`, so that no tenant can have that name. Path
 * variables have the names of the parameters of JSON-RPC. `protocolVersion` is written into cards.
 */
export function operations0_3(dialect: Dialect, protocolVersion: string): OldOperations {
  const { kinds } = dialect;
  const readMessageRequest = membersReader([
    ['message', ['message', 'request'], objectReader(messageReader(dialect))],
    ['configuration', undefined, objectReader(configurationReader(dialect))],
    ['metadata'],
  ]);
  const readConfigRequest = membersReader([
    ['taskId', ['id']],
    ['id', ['pushNotificationConfigId']],
  ]);
  const readConfigsRequest = membersReader([
    ['taskId', ['id']],
    ...(kinds ? [] : ([['pageSize'], ['pageToken']] as const)),
  ]);
  const readTask = objectReader(taskReader(dialect));
  const readTaskWebhook = taskWebhookReader(dialect);
  const readConfig = objectReader(readTaskWebhook);
  const readConfigs = listReader(readTaskWebhook);
  const writeCard = kinds ? writeAgentCard : writeProtoCard;

  const sending = {
    violationsOf: kindViolations,
    decode: readMessageRequest,
    encodeRequest: (request: SendMessageRequest) => writeMessageRequest(dialect, request),
  };
  return {
    sendMessage: {
      methods: ['message/send'],
      routes: [{ method: 'POST', path: ['v1', 'message:send'], body: 'required' }],
      ...sending,
      encode: (event) => writeStreamResponse(dialect, { event }),
      read: objectReader(streamResponseReader(dialect)),
    },
    sendStreamingMessage: {
      methods: ['message/stream'],
      routes: [{ method: 'POST', path: ['v1', 'message:stream'], body: 'required' }],
      ...sending,
      encode: undefined,
      read: undefined,
    },
    getTask: {
      methods: ['tasks/get'],
      routes: [{ method: 'GET', path: [...TASKS, '{id}'], body: 'none' }],
      decode: membersReader([['id'], ['historyLength']]),
      encodeRequest: withoutTenant,
      encode: (task: Task) => writeTask(dialect, task),
      read: readTask,
    },
    listTasks: undefined,
    cancelTask: {
      methods: ['tasks/cancel'],
      routes: [{ method: 'POST', path: [...TASKS, '{id}:cancel'], body: 'optional' }],
      decode: membersReader([['id'], ['metadata']]),
      encodeRequest: withoutTenant,
      encode: (task: Task) => writeTask(dialect, task),
      read: readTask,
    },
    subscribeToTask: {
      methods: ['tasks/resubscribe'],
      routes: [
        { method: 'POST', path: SUBSCRIBE, body: 'optional' },
        { method: 'GET', path: SUBSCRIBE, body: 'none' },
      ],
      decode: membersReader([['id']]),
      encodeRequest: withoutTenant,
      encode: undefined,
      read: undefined,
    },
    createTaskPushNotificationConfig: {
      methods: ['tasks/pushNotificationConfig/set'],
      routes: [{ method: 'POST', path: [...TASKS, '{taskId}', 'pushNotificationConfigs'], body: 'required' }],
      renamedFields: [[/^(?!taskId$)/, 'pushNotificationConfig.']],
      decode: readTaskWebhook,
      encodeRequest: (config) => writeCreateRequest(dialect, config),
      encode: (config) => writeTaskPushNotificationConfig(dialect, config),
      read: readConfig,
    },
    getTaskPushNotificationConfig: {
      methods: ['tasks/pushNotificationConfig/get'],
      routes: [{ method: 'GET', path: CONFIG, body: 'none' }],
      renamedFields: CONFIG_FIELDS,
      decode: (request) => ({ id: DEFAULT_CONFIG_ID, ...readConfigRequest(request) }),
      encodeRequest: writeConfigRequest,
      encode: (config) => writeTaskPushNotificationConfig(dialect, config),
      read: readConfig,
    },
    listTaskPushNotificationConfigs: {
      methods: ['tasks/pushNotificationConfig/list'],
      routes: [{ method: 'GET', path: CONFIGS, body: 'none' }],
      renamedFields: CONFIG_FIELDS,
      decode: (request) => ({ ...(kinds && { pageSize: WHOLE_LIST }), ...readConfigsRequest(request) }),
      encodeRequest: writeConfigRequest,
      encode: ({ configs, nextPageToken }) => {
        const written = configs.map((config) => writeTaskPushNotificationConfig(dialect, config));
        return kinds ? written : { configs: written, nextPageToken };
      },
      read: (value) => {
        const configs = isObject(value) ? value.configs : value;
        return { configs: readConfigs(configs), nextPageToken: isObject(value) ? value.nextPageToken : '' };
      },
    },
    deleteTaskPushNotificationConfig: {
      methods: ['tasks/pushNotificationConfig/delete'],
      routes: [{ method: 'DELETE', path: CONFIG, body: 'none' }],
      renamedFields: CONFIG_FIELDS,
      decode: readConfigRequest,
      encodeRequest: writeConfigRequest,
      encode: () => (kinds ? null : {}),
      read: readNothing,
    },
    getExtendedAgentCard: {
      // The specification has both spellings.
      methods: ['agent/getAuthenticatedExtendedCard', 'agent/authenticatedExtendedCard'],
      routes: [{ method: 'GET', path: ['v1', 'card'], body: 'none' }, EXTENDED_CARD_0_2],
      routesBesideMethods: [EXTENDED_CARD_0_2],
      decode: () => ({}),
      encodeRequest: withoutTenant,
      encode: (card: AgentCard) => writeCard(protocolVersion, card),
      read: (card) => card,
    },
  };
}

function readNothing(): undefined {}

/** Reads the configuration of a message. If it does not say `blocking`, the call waits, as agents of that time did. */
function configurationReader(dialect: Dialect): (value: Members) => object {
  const read = webhookReader(dialect);
  const readWebhook = objectReader((webhook) => ({ id: DEFAULT_CONFIG_ID, ...read(webhook) }));
  return membersReader([
    ['acceptedOutputModes'],
    ['taskPushNotificationConfig', ['pushNotificationConfig', 'pushNotification'], readWebhook],
    ['historyLength'],
    ['returnImmediately', ['blocking'], (blocking) => (typeof blocking === 'boolean' ? !blocking : blocking)],
  ]);
}

function writeMessageRequest(dialect: Dialect, { message, configuration, metadata }: SendMessageRequest): Members {
  return {
    [dialect.request]: writeMessage(dialect, message),
    configuration: writeConfiguration(dialect, configuration),
    metadata,
  };
}

/** `blocking` is always written, because agents of that time differ in its default. */
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

function writeCreateRequest(dialect: Dialect, config: TaskPushNotificationConfig): Members {
  const { taskId, id: configId = DEFAULT_CONFIG_ID } = config;
  const written = writeTaskPushNotificationConfig(dialect, config);
  // In the protobuf definition the body is the configuration. Servers of that time read the whole request there.
  return dialect.kinds ? { taskId, ...written } : { taskId, parent: `tasks/${taskId}`, configId, config: written };
}

function writeConfigRequest({ taskId, id }: Partial<GetTaskPushNotificationConfigRequest>): Members {
  return { id: taskId, pushNotificationConfigId: id };
}

/** Tenants exist since 1.0. */
function withoutTenant({ tenant: _, ...request }: { readonly tenant?: string }): Members {
  return request;
}
