import { ROLES } from '../../model/role.js';
import type { Components } from '../../openapi/components.js';
import type { Schema } from '../../openapi/document.js';
import type { OperationName } from '../../operations/operations.js';
import { nullable, scalarSchema } from '../v1_0/value-schemas.js';
import type { SchemaLimits } from '../wire-schemas.js';
import type { Dialect } from './dialect.js';

const TEXT: Schema = { type: ['string', 'null'] };
const FREE: Schema = { type: ['object', 'null'] };
const TEXTS: Schema = { type: ['array', 'null'], items: { type: 'string' } };
const COUNT = { is: 'integer', minimum: 0, maximum: 2147483647 } as const;
const BYTES = scalarSchema({ is: 'base64' }, false, 'json');

/** What is accepted for `historyLength`, as JSON and in a query. */
export const HISTORY_LENGTH: Schema = scalarSchema(COUNT, false, 'query');

/** What accepted schemas are made with. */
export interface AcceptedParts {
  readonly dialect: Dialect;
  /** Begins the names of the components. */
  readonly prefix: string;
  readonly components: Components;
  readonly limits: SchemaLimits;
}

/** What versions before 1.0 accept, in the words of a dialect; the words of the others, and snake_case, are read as well. */
export function acceptedRequest(operation: OperationName, parts: AcceptedParts): Schema {
  const { prefix, components, limits } = parts;
  const id = { type: 'string', minLength: 1, maxLength: limits.idLength };
  switch (operation) {
    case 'sendMessage':
    case 'sendStreamingMessage':
      return { ...components.add(`${prefix}MessageSendParams`, sendMessage(parts)) };
    case 'getTask':
      return object({ id }, { historyLength: nullable(scalarSchema(COUNT, false, 'json')) });
    case 'cancelTask':
      return object({ id }, { metadata: FREE });
    case 'createTaskPushNotificationConfig':
      return object({ taskId: id, pushNotificationConfig: webhook(parts) });
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

function sendMessage(parts: AcceptedParts): Schema {
  const { dialect, prefix, components, limits } = parts;
  const config = limits.pushNotifications ? { anyOf: [webhook(parts), { type: 'null' }] } : { type: 'null' };
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
  const message = { ...components.add(`${prefix}MessageInput`, messageInput(parts)) };
  return object({ [dialect.request]: message }, { configuration, metadata: FREE });
}

function messageInput({ dialect, prefix, components, limits }: AcceptedParts): Schema {
  const { idLength, parts: maxItems } = limits;
  const id = { type: 'string', maxLength: idLength };
  const parts = {
    type: 'array',
    minItems: 1,
    maxItems,
    items: { ...components.add(`${prefix}PartInput`, partInput(dialect)) },
  };
  const role = { type: ['string', 'integer'], enum: ['user', 'ROLE_USER', ROLES.indexOf('ROLE_USER')] };
  const ids = { type: ['array', 'null'], items: id };
  const optional = {
    contextId: nullable(id),
    taskId: nullable(id),
    metadata: FREE,
    extensions: TEXTS,
    referenceTaskIds: ids,
  };
  return object({ messageId: { ...id, minLength: 1 }, role, [dialect.kinds ? 'parts' : 'content']: parts }, optional);
}

function partInput(dialect: Dialect): Schema {
  const content = { text: { type: 'string' }, data: { not: { type: 'null' } }, file: fileInput(dialect) };
  const oneOf = Object.entries(content).map(([name, schema]) => object({ [name]: schema }));
  return { ...object({}, { text: TEXT, metadata: FREE }), oneOf };
}

function fileInput({ kinds }: Dialect): Schema {
  const [bytes, uri] = kinds ? ['bytes', 'uri'] : ['fileWithBytes', 'fileWithUri'];
  const optional = { [bytes]: nullable(BYTES), [uri]: TEXT, name: TEXT, mimeType: TEXT };
  return { ...object({}, optional), oneOf: [object({ [bytes]: BYTES }), object({ [uri]: { type: 'string' } })] };
}

function webhook({ prefix, components }: AcceptedParts): Schema {
  const authentication = {
    ...object(
      { schemes: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } } },
      { credentials: TEXT },
    ),
    type: ['object', 'null'],
  };
  const config = object({ url: { type: 'string', minLength: 1 } }, { id: TEXT, token: TEXT, authentication });
  return { ...components.add(`${prefix}PushNotificationConfigInput`, config) };
}

function object(members: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  const required = Object.keys(members);
  return { type: 'object', ...(required.length > 0 && { required }), properties: { ...members, ...optional } };
}
