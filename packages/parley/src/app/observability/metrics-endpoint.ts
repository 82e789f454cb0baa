import { errorBodySchema } from '../../bindings/http/error-schema.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { preferredMediaType } from '../../bindings/http/media-type.js';
import type { Tag } from '../../openapi/document.js';
import type { Clock } from '../../runtime/clock.js';
import type { TaskStorage } from '../../store/task-storage.js';
import type { LoadSources } from '../../telemetry/load-metrics.js';
import type { ServerFigures } from '../../telemetry/merged-figures.js';
import type { MetricFamily } from '../../telemetry/metric-family.js';
import type { MetricRegistry } from '../../telemetry/metric-registry.js';
import { type MetricFormat, metricText } from '../../telemetry/metric-text.js';
import type { RequestFigures } from '../../telemetry/server-figures.js';
import { jsonAnswer } from '../json-answer.js';
import { varying } from '../middleware/answer-headers.js';
import { readOnly } from '../middleware/method-filter.js';
import { jsonOf, OPERATING, objectOf } from '../openapi/described-answers.js';
import type { Describe } from '../openapi/server-document.js';
import { metricsJson } from './metrics-json.js';

/** A host and its measurements. */
interface MeasuredHost {
  readonly registry: MetricRegistry;
  readonly requests: RequestFigures;
  readonly sources: LoadSources;
  readonly storage: TaskStorage;
  readonly clock: Clock;
  /** By the monotonic clock. */
  readonly startedAt: number;
}

const TYPES: Readonly<Record<MetricFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};
const OFFERED = ['application/json', 'application/openmetrics-text', 'text/plain'] as const;

/** The figures as JSON, or in the text form of OpenMetrics or Prometheus if `Accept` prefers that. */
export function metricsEndpoint(host: MeasuredHost): Exchange {
  const json = readOnly(async () => {
    const value = metricsJson(await allFigures(host), host.clock.now());
    return jsonAnswer({ status: 200, value, headers: { 'cache-control': 'no-store' } });
  });
  return async (request) => {
    const type = preferredMediaType(request.header('accept'), OFFERED);
    const isText = type !== undefined && type !== 'application/json' && isRead(request);
    const answer = isText
      ? text((await allFigures(host)).families, type === 'text/plain' ? 'prometheus' : 'openmetrics')
      : await json(request);
    return varying(answer, 'Accept');
  };
}

/** The figures of this process. */
export async function ownFigures(host: MeasuredHost): Promise<ServerFigures> {
  const { registry, sources, clock, startedAt } = host;
  const { requests, errors, errorsByCode } = host.requests;
  const memory = sources.process?.memory();
  const cache = sources.cache?.();
  return {
    families: await registry.collect(),
    uptimeSeconds: (clock.monotonic() - startedAt) / 1000,
    requests,
    errors,
    errorsByCode,
    ...(memory && { memory }),
    ...(cache && { cache }),
  };
}

/** The figures of all processes that answer as one server. If the others cannot be asked, those of this one. */
async function allFigures(host: MeasuredHost): Promise<ServerFigures> {
  const { siblings } = host.storage;
  const all = (await siblings?.collect().catch(() => [])) as readonly ServerFigures[] | undefined;
  if (all === undefined || all.length === 0) return ownFigures(host);
  const { mergedFigures } = await import('../../telemetry/merged-figures.js');
  return mergedFigures(all);
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
