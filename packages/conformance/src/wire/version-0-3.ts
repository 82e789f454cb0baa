import { isJson, itemsOf, type Json, memberOf } from './json.js';
import type { OperationName } from './operations.js';

/** Writes the parameters of a call for 0.3. JSON-RPC marks objects by `kind`; HTTP+JSON is ProtoJSON of that time. */
export function paramsOf0_3(operation: OperationName, params: Json, withKinds: boolean): Json {
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage': {
      const message = isJson(params.message) ? params.message : {};
      const configuration = { acceptedOutputModes: [], blocking: true };
      return withKinds
        ? { message: messageOf0_3(message), configuration }
        : { request: protoMessageOf0_3(message), configuration };
    }
    case 'ListTaskPushNotificationConfigs':
      return { id: params.taskId };
    case 'GetTask':
    case 'CancelTask':
    case 'SubscribeToTask':
    case 'ListTasks':
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
    case 'GetExtendedAgentCard':
      return params;
  }
}

function messageOf0_3({ parts, role: _, ...others }: Json): Json {
  const marked = itemsOf(parts).map((part) => ({ kind: 'text', text: memberOf(part, 'text') }));
  return { kind: 'message', role: 'user', ...others, parts: marked };
}

function protoMessageOf0_3({ parts, ...others }: Json): Json {
  return { ...others, content: parts };
}

/** Converts a result or an event of 0.3 to 1.0, for the members that the checks read. */
export function resultOf0_3(operation: OperationName, value: unknown): unknown {
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
    case 'SubscribeToTask':
      return eventOf0_3(value);
    case 'GetTask':
    case 'CancelTask':
      return withState(value);
    case 'ListTaskPushNotificationConfigs':
      return Array.isArray(value) ? { configs: value } : { configs: [], ...(isJson(value) ? value : {}) };
    case 'ListTasks':
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
    case 'GetExtendedAgentCard':
      return value;
  }
}

function eventOf0_3(value: unknown): unknown {
  if (!isJson(value)) return value;
  switch (value.kind) {
    case 'task':
      return { task: withState(value) };
    case 'message':
      return { message: value };
    case 'status-update':
      return { statusUpdate: withState(value) };
    case 'artifact-update':
      return { artifactUpdate: value };
    case undefined: {
      const { msg, task, statusUpdate, ...others } = value;
      return {
        ...others,
        ...(msg !== undefined && { message: msg }),
        ...(task !== undefined && { task: withState(task) }),
        ...(statusUpdate !== undefined && { statusUpdate: withState(statusUpdate) }),
      };
    }
    default:
      return value;
  }
}

/** `input-required` and `TASK_STATE_CANCELLED` become the names of 1.0. */
function withState(value: unknown): unknown {
  if (!isJson(value) || !isJson(value.status)) return value;
  const { state } = value.status;
  if (typeof state !== 'string') return value;
  const name = state.startsWith('TASK_STATE_') ? state : `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`;
  return { ...value, status: { ...value.status, state: name.replace('CANCELLED', 'CANCELED') } };
}
