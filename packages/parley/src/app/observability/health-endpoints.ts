import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import { jsonAnswer } from '../json-answer.js';
import { readOnly } from '../middleware/method-filter.js';
import { jsonOf, OPERATING } from '../openapi/described-answers.js';
import type { Describe } from '../openapi/server-document.js';
import type { Readiness } from './readiness.js';

/** For probes only the present counts. */
const FRESH = { 'cache-control': 'no-store' };
const ALIVE = jsonAnswer({ status: 200, value: { status: 'alive' }, headers: FRESH });

/**
 * The answers to probes, by path: `/healthz` says if the process answers at all, and `/readyz` if requests should be
 * sent to it (503 where not, naming what is not ready).
 */
export function healthEndpoints(readiness: Readiness): ReadonlyMap<string, Exchange> {
  return new Map([
    ['/healthz', readOnly(async () => ALIVE)],
    ['/readyz', readOnly(() => readyAnswer(readiness))],
  ]);
}

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
