import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { isFault } from '../../bindings/http/wire-error.js';
import type { ErrorCode } from '../../errors/a2a-error.js';
import type { DeliveryAct } from '../../push/served-deliveries.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { AuditLog, AuditRecord } from '../../telemetry/audit-log.js';
import type { Logger } from '../../telemetry/logger.js';
import { errorAnswer } from '../json-answer.js';
import { READ_METHODS } from './method-filter.js';
import { givenRequestId, shortPath } from './observed-exchange.js';

/** The audit log of a host. */
export interface AuditSetup {
  readonly log: AuditLog;
  /** The address of the client of a request. */
  readonly addressOf: (request: ExchangeRequest) => string | undefined;
}

/** The audit log of a host, and its ports. */
export interface AuditOptions extends AuditSetup {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

const UNWRITTEN = errorAnswer({
  status: 503,
  message: 'The server cannot record calls now. Try again later',
  headers: { 'retry-after': '5' },
});
/** Answers to callers who may not pass: no credential, no right, too many requests. */
const REFUSALS: readonly number[] = [401, 403, 429];

/**
 * The exchange with a record for each call of an agent, each refusal, and each request that may change something. A
 * stream is recorded when it begins. Pages, cards and probes leave no record.
 */
export function auditExchange(next: Exchange, options: AuditOptions): Exchange {
  return options.log.required === true ? requiringAudit(next, options) : withAudit(next, options);
}

function withAudit(next: Exchange, options: AuditOptions): Exchange {
  const { log, logger } = options;
  let isFailing = false;
  const failed = (error: unknown) => {
    if (!isFailing) logger.error('the audit log cannot be written, records are lost', { error });
    isFailing = true;
  };
  const written = () => {
    if (isFailing) logger.warn('the audit log is written again');
    isFailing = false;
  };
  return (request) =>
    next(request).then((answer) => {
      if (!isAudited(request, answer)) return answer;
      try {
        const writing = log.write(recordOf(request, answer, options));
        if (writing !== undefined) writing.then(written, failed);
      } catch (error) {
        failed(error);
      }
      return answer;
    });
}

/**
 * After a failure the next request is refused before any code can act on it. Its record tells whether records can be
 * written again.
 */
function requiringAudit(next: Exchange, options: AuditOptions): Exchange {
  const { log, logger } = options;
  let isFailing = false;
  const isWritten = async (request: ExchangeRequest, answer: ExchangeResponse): Promise<boolean> => {
    try {
      await log.write(recordOf(request, answer, options));
      if (isFailing) logger.warn('the audit log is written again');
      isFailing = false;
      return true;
    } catch (error) {
      if (!isFailing) logger.error('the audit log cannot be written, calls are refused', { error });
      isFailing = true;
      return false;
    }
  };
  return async (request) => {
    if (isFailing && !(await isWritten(request, UNWRITTEN))) return UNWRITTEN;
    const answer = await next(request);
    if (!isAudited(request, answer) || (await isWritten(request, answer))) return answer;
    await endStream(answer);
    return UNWRITTEN;
  };
}

/** Ends the stream of an answer that is not sent. */
async function endStream({ body, bytes }: ExchangeResponse): Promise<void> {
  if (typeof body === 'object' && Symbol.asyncIterator in body) await body[Symbol.asyncIterator]().return?.();
  await bytes?.chunks[Symbol.asyncIterator]().return?.();
}

/** The audit log for acts of the operator's code, and its ports. */
interface ActOptions extends Omit<AuditOptions, keyof AuditSetup> {
  readonly audit?: Pick<AuditSetup, 'log'> | undefined;
}

/** The codes of results of acts. */
const ACT_CODES = new Map<unknown, ErrorCode>([
  [false, 'TASK_NOT_FOUND'],
  ['not-found', 'TASK_NOT_FOUND'],
  ['not-kept', 'INVALID_PARAMS'],
]);

/**
 * Runs an act of the operator's code, and writes a record of what came of it.
 * @throws Error if the record is lost and the log is required.
 */
export async function recordedAct<Result>(
  act: DeliveryAct,
  run: () => Promise<Result>,
  options: ActOptions,
): Promise<Result> {
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    await writeAct(act, 'UNAVAILABLE', options);
    throw error;
  }
  await writeAct(act, ACT_CODES.get(result) ?? 'OK', options);
  return result;
}

async function writeAct(
  { operation, queue: { key, configId } }: DeliveryAct,
  code: ErrorCode | 'OK',
  { audit, clock, ids, logger }: ActOptions,
): Promise<void> {
  const { agent, tenant } = key.scope;
  const record: AuditRecord = {
    id: ids.random(),
    time: new Date(clock.now()).toISOString(),
    outcome: outcomeOf(code),
    code,
    principal: { kind: 'operator' },
    agent,
    ...(tenant !== '' && { tenant }),
    operation,
    taskId: key.id,
    configId,
  };
  try {
    await audit?.log.write(record);
  } catch (error) {
    logger.error('the audit log cannot be written, a record is lost', { error });
    if (audit?.log.required === true) throw error;
  }
}

function outcomeOf(code: string, status = 0): AuditRecord['outcome'] {
  if (code === 'OK') return 'done';
  return status >= 500 || isFault(code as ErrorCode) ? 'failed' : 'refused';
}

function isAudited({ method }: ExchangeRequest, { call, file, status }: ExchangeResponse): boolean {
  if (call !== undefined || file !== undefined || REFUSALS.includes(status)) return true;
  return !READ_METHODS.includes(method) && method !== 'OPTIONS';
}

function recordOf(
  request: ExchangeRequest,
  { call, file, status }: ExchangeResponse,
  { clock, ids, addressOf }: AuditOptions,
): AuditRecord {
  const { method, path, user, requestId, traceId } = request;
  const code = call === undefined || (call.code === 'OK' && status >= 400) ? codeOf(status) : call.code;
  const callerRequestId = givenRequestId(request);
  const known: Partial<Record<keyof AuditRecord, string | undefined>> = {
    address: addressOf(request),
    agent: call?.agent ?? file?.agent,
    tenant: call?.tenant ?? file?.tenant,
    operation: call?.operation ?? file?.operation,
    fileId: file?.fileId,
    taskId: call?.taskId,
    contextId: call?.contextId,
    binding: call?.binding,
    version: call?.version,
    requestId,
    traceId,
    callerRequestId,
  };
  return {
    id: ids.random(),
    time: new Date(clock.now()).toISOString(),
    outcome: outcomeOf(code, status),
    code,
    status,
    principal: user === undefined ? { kind: 'anonymous' } : { kind: 'user', id: user.id },
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    ...(file?.bytes !== undefined && { bytes: file.bytes }),
    method,
    path: shortPath(path),
  };
}

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function codeOf(status: number): string {
  return status < 400 ? 'OK' : (CODES[status] ?? `HTTP_${status}`);
}
