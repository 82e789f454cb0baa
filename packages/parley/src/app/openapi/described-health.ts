import { jsonOf, OPERATING } from './described-answers.js';
import type { Describe } from './server-document.js';

/** The probes for a document. */
export const describedHealth: Describe = () => {
  const text = { type: 'string' };
  const texts = { type: 'array', items: text };
  const state = {
    type: 'object',
    required: ['status', 'required'],
    properties: { status: { type: 'string', enum: ['ok', 'failing'] }, required: { type: 'boolean' } },
  };
  const report = {
    type: 'object',
    required: ['status', 'notReady', 'checks', 'durability', 'warnings'],
    properties: {
      status: { type: 'string', enum: ['ready', 'not ready', 'draining'] },
      notReady: texts,
      checks: { type: 'object', additionalProperties: state },
      durability: text,
      warnings: texts,
    },
  };
  const alive = { type: 'object', required: ['status'], properties: { status: { const: 'alive' } } };
  const probe = (operationId: string, summary: string) => ({ operationId, summary, tags: [OPERATING.name] });
  return {
    tags: [OPERATING],
    paths: {
      '/healthz': {
        get: { ...probe('healthz', 'Whether the process answers'), responses: { 200: jsonOf('It does', alive) } },
      },
      '/readyz': {
        get: {
          ...probe('readyz', 'Whether requests should be sent here'),
          responses: { 200: jsonOf('They should', report), 503: jsonOf('They should not, and why', report) },
        },
      },
    },
  };
};
