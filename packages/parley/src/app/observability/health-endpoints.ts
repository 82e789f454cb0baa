import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import { type HostEndpoint, type HostExtension, WITHOUT_FOR_PROBES } from '../host-extension.js';
import { jsonAnswer } from '../json-answer.js';
import { readOnly } from '../middleware/method-filter.js';
import { jsonOf, OPERATING } from '../openapi/described-answers.js';
import type { Describe } from '../openapi/server-document.js';
import type { Readiness } from './readiness.js';

/** For probes only the present counts. */
const FRESH = { 'cache-control': 'no-store' };
const ALIVE = jsonAnswer({ status: 200, value: { status: 'alive' }, headers: FRESH });

/** Probes have no credentials. */
const PROBE = { access: 'open', without: WITHOUT_FOR_PROBES } as const;

/**
 * The answers to probes. `/healthz` answers 200 if the process answers at all. `/readyz` answers 200 if load balancers
 * may send requests here, and 503 with the names of the failing checks if not.
 */
export function healthEndpoints(readiness: Readiness): readonly HostEndpoint[] {
  return [
    { path: '/healthz', exchange: readOnly(async () => ALIVE), ...PROBE },
    { path: '/readyz', exchange: readOnly(() => readyAnswer(readiness)), ...PROBE },
  ];
}

/** The probes of a host. */
export const healthExtension: HostExtension = { endpoints: ({ readiness }) => healthEndpoints(readiness) };

async function readyAnswer(readiness: Readiness): Promise<ExchangeResponse> {
  const report = await readiness.report();
  return jsonAnswer({ status: report.status === 'ready' ? 200 : 503, value: report, headers: FRESH });
}

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
