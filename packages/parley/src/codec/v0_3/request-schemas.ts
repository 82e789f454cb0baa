import { ROLES } from '../../model/role.js';
import type { Components } from '../../openapi/components.js';
import type { Schema } from '../../openapi/document.js';
import { nullable, scalarSchema } from '../v1_0/value-schemas.js';
import type { SchemaLimits } from '../wire-schemas.js';
import type { Dialect } from './dialect.js';

const TEXT: Schema = { type: ['string', 'null'] };
/** An object of any members. */
export const FREE: Schema = { type: ['object', 'null'] };
const TEXTS: Schema = { type: ['array', 'null'], items: { type: 'string' } };
const COUNT = { is: 'integer', minimum: 0, maximum: 2147483647 } as const;
/** The number of messages that a request asks for. */
export const HISTORY_LENGTH: Schema = nullable(scalarSchema(COUNT, false, 'json'));
/** The same, in a query. */
export const HISTORY_LENGTH_IN_QUERY: Schema = scalarSchema(COUNT, false, 'query');
const BYTES = scalarSchema({ is: 'base64' }, false, 'json');

/** The options of the schemas of requests. */
export interface RequestSchemaOptions {
  readonly dialect: Dialect;
  /** The beginning of the names of the components. */
  readonly prefix: string;
  readonly components: Components;
  readonly limits: SchemaLimits;
}

/** A request that sends a message. */
export function messageRequest(options: RequestSchemaOptions): Schema {
  const { prefix, components } = options;
  return { ...components.add(`${prefix}MessageSendParams`, messageSendParams(options)) };
}

function messageSendParams(options: RequestSchemaOptions): Schema {
  const { dialect, prefix, components, limits } = options;
  const config = limits.pushNotifications ? { anyOf: [webhookInput(options), { type: 'null' }] } : { type: 'null' };
  const configuration = {
    ...object(
      {},
      {
        acceptedOutputModes: TEXTS,
        historyLength: HISTORY_LENGTH,
        pushNotificationConfig: config,
        blocking: {
          type: ['boolean', 'null'],
          description: 'If false, the answer does not wait for the end of the turn.',
        },
      },
    ),
    type: ['object', 'null'],
  };
  const message = { ...components.add(`${prefix}MessageInput`, messageInput(options)) };
  return object({ [dialect.request]: message }, { configuration, metadata: FREE });
}

function messageInput({ dialect, prefix, components, limits }: RequestSchemaOptions): Schema {
  const { ofIds, parts: maxItems } = limits;
  const id = { type: 'string', ...ofIds };
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

/** A webhook by itself. */
export function webhookInput({ dialect, prefix, components }: RequestSchemaOptions): Schema {
  const schemes = { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } };
  const some = { ...object({ schemes }, { credentials: TEXT }), type: ['object', 'null'] };
  // Protobuf clients write an empty object if there is no authentication.
  const none = object({}, { schemes: { type: 'array', maxItems: 0 }, credentials: { type: 'string', maxLength: 0 } });
  const authentication = dialect.kinds ? some : { anyOf: [some, none] };
  const config = object({ url: { type: 'string', minLength: 1 } }, { id: TEXT, token: TEXT, authentication });
  return { ...components.add(`${prefix}PushNotificationConfigInput`, config) };
}

/** The id of a task or of a configuration. */
export function idInput({ limits }: RequestSchemaOptions): Schema {
  return { type: 'string', minLength: 1, ...limits.ofIds };
}

/** An object that may have further members. */
export function object(
  members: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const required = Object.keys(members);
  return { type: 'object', ...(required.length > 0 && { required }), properties: { ...members, ...optional } };
}
