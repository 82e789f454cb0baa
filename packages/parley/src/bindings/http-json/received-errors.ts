import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { isObject } from '../../model/json.js';
import { codeOfNumber, isErrorCode } from '../http/error-numbers.js';
import { answeredError, COMMON_STATUSES, isText, readDetails } from '../http/received-answer.js';

/** The errors of statuses without a reason, in this version of the protocol or an earlier one. */
const BY_STATUS = new Map<number, ErrorCode>([
  ...COMMON_STATUSES,
  [400, 'INVALID_PARAMS'],
  [404, 'TASK_NOT_FOUND'],
  [409, 'TASK_NOT_CANCELABLE'],
  [422, 'INVALID_PARAMS'],
  [501, 'UNSUPPORTED_OPERATION'],
  [502, 'INVALID_AGENT_RESPONSE'],
]);

/** As `BY_STATUS`, by the name of the status in gRPC. */
const BY_NAME = new Map<unknown, ErrorCode>([
  ['NOT_FOUND', 'TASK_NOT_FOUND'],
  ['INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  ['UNIMPLEMENTED', 'UNSUPPORTED_OPERATION'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
  ['PERMISSION_DENIED', 'PERMISSION_DENIED'],
  ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
  ['UNAVAILABLE', 'UNAVAILABLE'],
  ['INTERNAL', 'INTERNAL_ERROR'],
]);

/**
 * The error of a failed call, found by its reason, then by its status (Spec §11.6). Three forms are in use: the
 * protocol's `{error: {…}}`, problem details, and `{code, message}` with the number of JSON-RPC. Web frameworks have
 * their own. `namesTask`: the call names a task that may not exist.
 */
export function errorOf(response: Response, body: Readonly<Record<string, unknown>>, namesTask = true): A2AError {
  const error = isObject(body.error) ? body.error : body;
  const { status, type } = error;
  const { code: reason, details } = readDetails(error.details ?? error.data);
  const code =
    reason ??
    codeOfNumber(error.code) ??
    reasonOfType(type) ??
    (response.status === 404 && !(namesTask && isOfAgent(error)) ? 'METHOD_NOT_FOUND' : undefined) ??
    BY_NAME.get(status) ??
    BY_STATUS.get(response.ok ? Number(error.code) : response.status) ??
    (response.status >= 400 && response.status < 500 ? 'INVALID_REQUEST' : 'INTERNAL_ERROR');
  return answeredError(response, { code, said: error, details });
}

/** True for an error without a reason that an agent may have sent. Errors of web frameworks have other members. */
function isOfAgent({ status, message, error, statusCode }: Readonly<Record<string, unknown>>): boolean {
  return BY_NAME.has(status) || (isText(message) && error === undefined && statusCode === undefined);
}

/** The type of problem details ends in the name of the error: `…/task-not-found`. */
function reasonOfType(type: unknown): ErrorCode | undefined {
  if (typeof type !== 'string') return undefined;
  const reason = type
    .slice(type.lastIndexOf('/') + 1)
    .replaceAll('-', '_')
    .toUpperCase();
  return isErrorCode(reason) ? reason : undefined;
}
