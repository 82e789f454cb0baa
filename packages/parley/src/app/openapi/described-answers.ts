import { errorBodySchema } from '../../bindings/http/error-schema.js';
import type { Components } from '../../openapi/components.js';
import type { DescribedAnswer, Schema, Tag } from '../../openapi/document.js';

/** The group of endpoints for operators. */
export const OPERATING: Tag = { name: 'Operations', description: 'For those who run the server.' };

/** An answer in JSON, for a document. */
export function jsonOf(description: string, schema: Schema): DescribedAnswer {
  return { description, content: { 'application/json': { schema } } };
}

/** An object of which all of these members are there. */
export function objectOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** The answer of a server whose agents cannot start, for a document. */
export function unavailableAnswer(components: Components): DescribedAnswer {
  return {
    description: 'The agents cannot be reached now',
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'string' } } },
    content: { 'application/json': { schema: errorBodySchema(components) } },
  };
}
