import type { FieldViolation } from '../../errors/a2a-error.js';
import { InvalidParamsError } from '../../errors/standard-errors.js';
import { isObject } from '../../model/json.js';
import type { OperationName } from '../../operations/operations.js';
import type { Members } from './members-reader.js';

/** The members of the parameters that a resource name has, in the order of the name. */
const IDS = ['id', 'pushNotificationConfigId'] as const;
const TASK = { form: /^tasks\/([^/]+)$/, text: 'tasks/{id}' } as const;
const CONFIG = {
  form: /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]+)$/,
  text: 'tasks/{id}/pushNotificationConfigs/{id}',
} as const;

/** The member of a request in gRPC that holds a resource name, and the form of that name. */
const NAMES: { readonly [Name in OperationName]?: readonly ['name' | 'parent', typeof TASK | typeof CONFIG] } = {
  getTask: ['name', TASK],
  cancelTask: ['name', TASK],
  subscribeToTask: ['name', TASK],
  createTaskPushNotificationConfig: ['parent', TASK],
  getTaskPushNotificationConfig: ['name', CONFIG],
  listTaskPushNotificationConfigs: ['parent', TASK],
  deleteTaskPushNotificationConfig: ['name', CONFIG],
};

/**
 * The ProtoJSON of a request in gRPC as that of HTTP+JSON, which has ids in place of resource names.
 * @throws InvalidParamsError for a name of another form.
 */
export function readResourceRequest(operation: OperationName, message: Members): Members {
  const row = NAMES[operation];
  if (row === undefined) return withBlocking(message);
  const [member, { form, text }] = row;
  const { [member]: name, ...rest } = message;
  const match = typeof name === 'string' ? form.exec(name) : null;
  if (match === null) throw new InvalidParamsError([violation(member, text)]);
  if (operation === 'createTaskPushNotificationConfig') return message;
  return { ...rest, ...Object.fromEntries(match.slice(1).map((id, at) => [IDS[at], id])) };
}

function violation(field: string, text: string): FieldViolation {
  return { field, description: `must be ${text}` };
}

/** Protobuf has no absent boolean: a configuration that does not say `true` asks for an answer at once. */
function withBlocking(message: Members): Members {
  const { configuration } = message;
  return isObject(configuration) ? { ...message, configuration: { blocking: false, ...configuration } } : message;
}

/** A request of HTTP+JSON as the ProtoJSON of gRPC, with a resource name in place of its ids. */
export function writeResourceRequest(
  operation: OperationName,
  { id, pushNotificationConfigId, ...rest }: Members,
): Members {
  const row = NAMES[operation];
  if (row === undefined || operation === 'createTaskPushNotificationConfig') return rest;
  const [member, { text }] = row;
  let name = text.replace('{id}', String(id));
  name = name.replace('{id}', String(pushNotificationConfigId));
  return { ...rest, [member]: name };
}
