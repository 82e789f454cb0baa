import { errorBodySchema } from '../../bindings/http/error-schema.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { accepted } from '../../bindings/http/media-type.js';
import type { Tag } from '../../openapi/document.js';
import type { MetricFamily } from '../../telemetry/metric-family.js';
import { type MetricFormat, metricText } from '../../telemetry/metric-text.js';
import { varying } from '../middleware/answer-headers.js';
import { jsonOf, OPERATING, objectOf } from '../openapi/described-answers.js';
import type { Describe } from '../openapi/server-document.js';

/** The figures. */
export interface MetricsEndpointOptions {
  readonly families: () => Promise<readonly MetricFamily[]>;
  /** Answers requests that do not prefer a text form. */
  readonly json: Exchange;
}

const TYPES: Readonly<Record<MetricFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};
const OFFERED = ['application/json', 'application/openmetrics-text', 'text/plain'] as const;

/** The figures as JSON, or in the text form of OpenMetrics or Prometheus if `Accept` prefers that. */
export function metricsEndpoint({ families, json }: MetricsEndpointOptions): Exchange {
  return async (request) => {
    const type = accepted(request.header('accept'), OFFERED);
    const isText = type !== undefined && type !== 'application/json' && isRead(request);
    const answer = isText
      ? text(await families(), type === 'text/plain' ? 'prometheus' : 'openmetrics')
      : await json(request);
    return varying(answer, 'Accept');
  };
}

function isRead({ method }: ExchangeRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function text(families: readonly MetricFamily[], format: MetricFormat): ExchangeResponse {
  const headers = { 'content-type': TYPES[format], 'cache-control': 'no-store' };
  return { status: 200, headers, body: metricText(families, format) };
}

/** The figures for a document, in the group of endpoints that they belong to. */
export const describedMetrics =
  (tag: Tag = OPERATING): Describe =>
  (components) => {
    const [text, count] = [{ type: 'string' }, { type: 'integer', minimum: 0 }];
    const memory = objectOf({ rss: text, heapUsed: text, heapTotal: text });
    const server = {
      ...objectOf({ uptime: count, requests: count, errors: count, errorRate: text }),
      properties: { uptime: count, requests: count, errors: count, errorRate: text, memory },
    };
    const counts = { type: 'object', description: 'Errors by code.', additionalProperties: count };
    const errors = objectOf({ http: counts, jsonRpc: counts, stream: counts });
    const cache = objectOf({ hits: count, misses: count, hitRate: text });
    const figures = objectOf({ server, errors, cache, timestamp: { type: 'string', format: 'date-time' } });
    const get = {
      operationId: 'metrics',
      tags: [tag.name],
      summary: 'The figures of the server',
      description: 'JSON unless `Accept` prefers the text form of OpenMetrics or Prometheus.',
      responses: {
        200: {
          description: 'The figures',
          content: {
            'application/json': { schema: figures },
            'application/openmetrics-text': { schema: text },
            'text/plain': { schema: text },
          },
        },
        401: jsonOf('Who may read the figures has to say who they are', errorBodySchema(components)),
        403: jsonOf('Not everybody who says who they are may read the figures', errorBodySchema(components)),
      },
    };
    return { tags: [tag], paths: { '/metrics': { get } } };
  };
