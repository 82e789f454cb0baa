import type { Components } from '../../openapi/components.js';
import type { Schema } from '../../openapi/document.js';
import { nullable } from '../v1_0/value-schemas.js';
import type { WireSchemas } from '../wire-schemas.js';
import { acceptedRequest, HISTORY_LENGTH } from './accepted-schemas.js';
import { AnsweredSchemas } from './answered-schemas.js';
import type { Dialect } from './dialect.js';

/** What a version before 1.0 reads and writes in one of its dialects; `prefix` begins the names of what it answers. */
export function oldSchemas(dialect: Dialect, prefix: string): WireSchemas {
  const answered = (components: Components) => new AnsweredSchemas(dialect, prefix, components);
  return {
    params: (operation, components, limits) => ({
      schema: acceptedRequest(operation, { dialect, prefix, components, limits }),
      optional: operation === 'getExtendedAgentCard',
    }),
    body({ operation, body, path }, components, limits) {
      if (operation === 'createTaskPushNotificationConfig') return { type: 'object' };
      const schema = acceptedRequest(operation, { dialect, prefix, components, limits });
      return body === 'optional' ? nullable(withoutPath(schema, path)) : schema;
    },
    query: ({ operation }) =>
      operation === 'getTask' ? [{ name: 'historyLength', required: false, schema: HISTORY_LENGTH }] : [],
    response: (operation, components) => answered(components).of(operation),
    card: (components) => answered(components).card,
  };
}

/** A request without the members that the path gives. */
function withoutPath({ required: _, properties, ...schema }: Schema, path: readonly string[]): Schema {
  const named = Object.entries(properties as Readonly<Record<string, Schema>>);
  const rest = named.filter(([name]) => !path.some((segment) => segment.startsWith(`{${name}}`)));
  return { ...schema, properties: Object.fromEntries(rest) };
}
