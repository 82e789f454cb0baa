import { ROLES } from '../../model/role.js';
import type { Components } from '../../openapi/components.js';
import type { Schema } from '../../openapi/document.js';
import type { OperationName } from '../../operations/operations.js';
import { nullable, scalarSchema } from '../v1_0/value-schemas.js';
import type { SchemaLimits } from '../wire-schemas.js';

const TEXT: Schema = { type: ['string', 'null'] };
const FREE: Schema = { type: ['object', 'null'] };
const TEXTS: Schema = { type: ['array', 'null'], items: { type: 'string' } };
const COUNT = { is: 'integer', minimum: 0, maximum: 2147483647 } as const;
const BYTES = nullable(scalarSchema({ is: 'base64' }, false, 'json'));

/** What is accepted for `historyLength`, as JSON and in a query. */
export const HISTORY_LENGTH: Schema = scalarSchema(COUNT, false, 'query');

/**
 * What versions before 1.0 accept: both dialects read the words of either. Only the first spelling of a name is published; the same name
 * in snake_case is read as well.
 */
export function acceptedRequest(operation: OperationName, components: Components, limits: SchemaLimits): Schema {
  const id = { type: 'string', minLength: 1, maxLength: limits.idLength };
  switch (operation) {
    case 'sendMessage':
    case 'sendStreamingMessage':
      return { ...components.add('v0.MessageSendParams', sendMessage(components, limits)) };
    case 'getTask':
      return object({ id }, { historyLength: nullable(scalarSchema(COUNT, false, 'json')) });
    case 'cancelTask':
      return object({ id }, { metadata: FREE });
    case 'createTaskPushNotificationConfig':
      return object({ taskId: id, pushNotificationConfig: webhook(components) });
    case 'deleteTaskPushNotificationConfig':
      return object({ id, pushNotificationConfigId: id });
    case 'getTaskPushNotificationConfig':
      return object({ id }, { pushNotificationConfigId: nullable(id) });
    case 'getExtendedAgentCard':
      return { type: 'object' };
    default:
      return object({ id });
  }
}

function sendMessage(components: Components, limits: SchemaLimits): Schema {
  const config = limits.pushNotifications ? { anyOf: [webhook(components), { type: 'null' }] } : { type: 'null' };
  const configuration = {
    ...object(
      {},
      {
        acceptedOutputModes: TEXTS,
        historyLength: nullable(scalarSchema(COUNT, false, 'json')),
        pushNotificationConfig: config,
        blocking: {
          type: ['boolean', 'null'],
          description: 'Whether the answer waits for the end of the turn; it does unless this is false.',
        },
      },
    ),
    type: ['object', 'null'],
  };
  const message = { ...components.add('v0.MessageInput', messageInput(components, limits)) };
  return { ...object({}, { configuration, metadata: FREE }), ...either('message', 'request', message) };
}

function messageInput(components: Components, { idLength, parts: maxItems }: SchemaLimits): Schema {
  const id = { type: 'string', maxLength: idLength };
  const parts = { type: 'array', minItems: 1, maxItems, items: { ...components.add('v0.PartInput', partInput()) } };
  const role = { type: ['string', 'integer'], enum: ['user', 'ROLE_USER', ROLES.indexOf('ROLE_USER')] };
  const ids = { type: ['array', 'null'], items: id };
  const optional = {
    contextId: nullable(id),
    taskId: nullable(id),
    metadata: FREE,
    extensions: TEXTS,
    referenceTaskIds: ids,
  };
  return { ...object({ messageId: { ...id, minLength: 1 }, role }, optional), ...either('parts', 'content', parts) };
}

function partInput(): Schema {
  const content = { text: { type: 'string' }, data: { not: { type: 'null' } }, file: fileInput() };
  const oneOf = Object.entries(content).map(([name, schema]) => object({ [name]: schema }));
  return { ...object({}, { text: TEXT, metadata: FREE }), oneOf };
}

function fileInput(): Schema {
  const bytes = { type: 'string', pattern: BYTES.pattern };
  const optional = { bytes: BYTES, uri: TEXT, name: TEXT, mimeType: TEXT, fileWithBytes: BYTES, fileWithUri: TEXT };
  const contents = { bytes, fileWithBytes: bytes, uri: { type: 'string' }, fileWithUri: { type: 'string' } };
  return {
    ...object({}, optional),
    oneOf: Object.entries(contents).map(([name, schema]) => object({ [name]: schema })),
  };
}

function webhook(components: Components): Schema {
  const authentication = {
    ...object(
      { schemes: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } } },
      { credentials: TEXT },
    ),
    type: ['object', 'null'],
  };
  const config = object({ url: { type: 'string', minLength: 1 } }, { id: TEXT, token: TEXT, authentication });
  return { ...components.add('v0.PushNotificationConfigInput', config) };
}

/** A member that has two names, of which the first counts unless it is absent or null. */
function either(name: string, other: string, schema: Schema): Schema {
  return { anyOf: [object({ [name]: schema }), object({ [other]: schema }, { [name]: { type: 'null' } })] };
}

function object(members: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  const required = Object.keys(members);
  return { type: 'object', ...(required.length > 0 && { required }), properties: { ...members, ...optional } };
}
