import type { Schema } from '../../openapi/document.js';
import type { OperationName } from '../../operations/operations.js';
import { nullable } from '../v1_0/value-schemas.js';
import type { QueryMember, WireSchemas } from '../wire-schemas.js';
import type { Dialect } from './dialect.js';
import {
  FREE,
  HISTORY_LENGTH,
  HISTORY_LENGTH_IN_QUERY,
  idInput,
  messageRequest,
  object,
  type RequestSchemaOptions,
  webhookInput,
} from './request-schemas.js';
import { ResponseSchemas } from './response-schemas.js';

/** The schemas of one operation. */
interface OperationSchemas {
  readonly request: (options: RequestSchemaOptions) => Schema;
  /** True if a call may omit the parameters. */
  readonly optional?: true;
  /** The body, if it differs from the parameters of JSON-RPC. */
  readonly body?: Schema;
  /** The members that HTTP+JSON reads from the query. */
  readonly query?: readonly QueryMember[];
  readonly response: (schemas: ResponseSchemas) => Schema;
}

/** The schemas of all operations; `undefined` says that these versions lack the operation. */
const OPERATION_SCHEMAS: { readonly [Name in OperationName]: OperationSchemas | undefined } = {
  sendMessage: { request: messageRequest, response: (schemas) => schemas.answer },
  sendStreamingMessage: { request: messageRequest, response: (schemas) => schemas.event },
  getTask: {
    request: (options) => object({ id: idInput(options) }, { historyLength: HISTORY_LENGTH }),
    query: [{ name: 'historyLength', required: false, schema: HISTORY_LENGTH_IN_QUERY }],
    response: (schemas) => schemas.task,
  },
  listTasks: undefined,
  cancelTask: {
    request: (options) => object({ id: idInput(options) }, { metadata: FREE }),
    response: (schemas) => schemas.task,
  },
  subscribeToTask: {
    request: (options) => object({ id: idInput(options) }),
    response: (schemas) => schemas.event,
  },
  createTaskPushNotificationConfig: {
    request: (options) => object({ taskId: idInput(options), pushNotificationConfig: webhookInput(options) }),
    body: { type: 'object' },
    response: (schemas) => schemas.webhook,
  },
  getTaskPushNotificationConfig: {
    request: (options) => {
      const id = idInput(options);
      return object({ id }, { pushNotificationConfigId: nullable(id) });
    },
    response: (schemas) => schemas.webhook,
  },
  listTaskPushNotificationConfigs: {
    request: (options) => object({ id: idInput(options) }),
    response: (schemas) => schemas.webhooks,
  },
  deleteTaskPushNotificationConfig: {
    request: (options) => {
      const id = idInput(options);
      return object({ id, pushNotificationConfigId: id });
    },
    response: (schemas) => schemas.nothing,
  },
  getExtendedAgentCard: {
    request: () => ({ type: 'object' }),
    optional: true,
    response: (schemas) => schemas.card,
  },
};

/** The schemas of a version before 1.0 in one of its dialects; the names of its components begin with `prefix`. */
export function oldSchemas(dialect: Dialect, prefix: string): WireSchemas {
  return {
    params(operation, components, limits) {
      const { request, optional = false } = schemasOf(operation);
      return { schema: request({ dialect, prefix, components, limits }), optional };
    },
    body({ operation, body: presence, path }, components, limits) {
      const { request, body } = schemasOf(operation);
      if (body !== undefined) return body;
      const schema = request({ dialect, prefix, components, limits });
      return presence === 'optional' ? nullable(withoutPath(schema, path)) : schema;
    },
    query: ({ operation }) => schemasOf(operation).query ?? [],
    response: (operation, components) =>
      schemasOf(operation).response(new ResponseSchemas(dialect, prefix, components)),
    card: (components) => new ResponseSchemas(dialect, prefix, components).card,
  };
}

function schemasOf(operation: OperationName): OperationSchemas {
  const schemas = OPERATION_SCHEMAS[operation];
  if (schemas === undefined) throw new RangeError(`The version has no ${operation}`);
  return schemas;
}

/** Removes the members that the path has. */
function withoutPath({ required: _, properties, ...schema }: Schema, path: readonly string[]): Schema {
  const named = Object.entries(properties as Readonly<Record<string, Schema>>);
  const rest = named.filter(([name]) => !path.some((segment) => segment.startsWith(`{${name}}`)));
  return { ...schema, properties: Object.fromEntries(rest) };
}
