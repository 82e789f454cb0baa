import type { Answer, Schema, Tag } from '../../openapi/document.js';

/** The group of endpoints for those who run a server. */
export const OPERATING: Tag = { name: 'Operations', description: 'For those who run the server.' };

/** An answer in JSON, for a document. */
export function jsonOf(description: string, schema: Schema): Answer {
  return { description, content: { 'application/json': { schema } } };
}

/** An object of which all of these members are there. */
export function objectOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}
