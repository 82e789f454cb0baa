import type { Components } from '../../openapi/components.js';
import type { Reference, Schema } from '../../openapi/document.js';

/** The details of an error, in the form of `errorDetails`. */
export function errorDetailsSchema(components: Components): Reference {
  const detail = {
    type: 'object',
    description: 'ErrorInfo with the reason, BadRequest with the fields at fault, or RetryInfo with the time to wait.',
    required: ['@type'],
    properties: {
      '@type': { type: 'string' },
      reason: { type: 'string' },
      domain: { type: 'string' },
      metadata: { type: 'object', additionalProperties: { type: 'string' } },
      fieldViolations: {
        type: 'array',
        items: {
          type: 'object',
          required: ['field', 'description'],
          properties: { field: { type: 'string' }, description: { type: 'string' } },
        },
      },
      retryDelay: { type: 'string' },
    },
  };
  return components.add('ErrorDetail', detail);
}

/** The body of every error outside of JSON-RPC: a google.rpc.Status as JSON (Spec §11.6). */
export function errorBodySchema(components: Components): Schema {
  const error = {
    type: 'object',
    required: ['code', 'status', 'message'],
    properties: {
      code: { type: 'integer', description: 'The HTTP status.' },
      status: { type: 'string', description: 'The name of the google.rpc.Code.' },
      message: { type: 'string' },
      details: { type: 'array', items: errorDetailsSchema(components) },
    },
  };
  return { ...components.add('ErrorBody', { type: 'object', required: ['error'], properties: { error } }) };
}
