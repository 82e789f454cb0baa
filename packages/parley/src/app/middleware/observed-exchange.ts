import { errorNumber } from '../../bindings/http/error-numbers.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { isFault } from '../../bindings/http/wire-error.js';
import type { ErrorCode } from '../../errors/a2a-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RequestMetrics } from '../../telemetry/request-metrics.js';
import { traceIdIn } from '../../telemetry/tracing.js';
import { type AnswerHeaders, allHeaders } from './answer-headers.js';

/** The figures and the log of an exchange. */
interface Observers {
  readonly metrics: RequestMetrics | undefined;
  /** Gets one line for each request, at the level info, without the content of the request. */
  readonly logger: Logger | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Headers for every answer that does not have them already. */
  readonly headers: AnswerHeaders;
}

/**
 * The exchange with figures and a log line for each request. Every request gets an id for answers and log lines: its
 * `X-Request-Id`, the trace of its span or its `traceparent`, or a new id.
 */
export function observeExchange(exchange: Exchange, { metrics, logger, clock, ids, headers }: Observers): Exchange {
  return async (request) => {
    const began = clock.monotonic();
    const own = givenRequestId(request);
    request.hasOwnId = own !== undefined;
    const traceparent = request.header('traceparent');
    const trace = traceparent === undefined ? undefined : traceIdIn(traceparent);
    request.requestId = own ?? trace ?? ids.random();
    const answer = await exchange(request);
    const ms = clock.monotonic() - began;
    const { toldStatus } = request;
    const told: ToldAnswer = toldStatus === undefined ? answer : { status: toldStatus };
    const { call, status } = told;
    if (metrics !== undefined) {
      metrics.answered(call, { status, seconds: ms / 1000 });
      if (status >= 400 || (call !== undefined && call.code !== 'OK')) countError(metrics, told);
    }
    if (logger !== undefined) tell(logger, { request, answer: told, ms });
    const all = allHeaders(headers, { request, answer });
    all['x-request-id'] = request.requestId;
    return { ...answer, headers: all };
  };
}

/** The id that a caller chose for its request. Undefined if a log or a header cannot have it. */
export function givenRequestId(request: ExchangeRequest): string | undefined {
  const id = request.header('x-request-id');
  return id !== undefined && REQUEST_ID.test(id) ? id : undefined;
}

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** The parts of an answer that its caller gets to know. */
type ToldAnswer = Pick<ExchangeResponse, 'call' | 'status'>;

function countError(metrics: RequestMetrics, { call, status }: ToldAnswer): void {
  if (status >= 400) metrics.told({ kind: 'http', code: String(status) });
  const code = call?.code ?? 'OK';
  if (code !== 'OK' && call?.binding === 'JSONRPC') {
    metrics.told({ kind: 'jsonRpc', code: String(errorNumber(code)), reason: code });
  }
  if (status >= 500 || (code !== 'OK' && isFault(code))) metrics.failed();
}

/** Counts an error that ended a stream after its start. */
export function countBrokenStream(metrics: RequestMetrics, code: ErrorCode): void {
  metrics.told({ kind: 'stream', code: String(errorNumber(code)), reason: code });
  if (isFault(code)) metrics.failed();
}

interface Told {
  readonly request: ExchangeRequest;
  readonly answer: ToldAnswer;
  readonly ms: number;
}

/** Longer paths are cut in the log. */
const LONGEST_PATH = 200;

/** A path for a log. */
export function shortPath(path: string): string {
  return path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
}

/** Logs a request. The path has no query, because a query may carry credentials. */
function tell(logger: Logger, { request, answer: { call, status }, ms }: Told): void {
  const { requestId, traceId, method, path } = request;
  logger.info('request', {
    requestId,
    ...(traceId !== undefined && { trace_id: traceId }),
    method,
    path: shortPath(path),
    status,
    ms: Math.round(ms * 1000) / 1000,
    ...(call !== undefined && {
      operation: call.operation,
      binding: call.binding,
      version: call.version,
      code: call.code,
      taskId: call.taskId,
    }),
  });
}
