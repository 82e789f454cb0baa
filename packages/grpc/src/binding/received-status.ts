import type { A2AError, ErrorCode } from 'parley-a2a';
import {
  answersCard,
  isErrorCode,
  isLegacy,
  type OperationName,
  readDetails,
  receivedChallenges,
  receivedError,
  type SaidDetails,
} from 'parley-a2a/binding-kit';
import { decodeStatus } from '../protobuf/status.js';

/** A status with which an agent ended a call. */
interface ReceivedStatus {
  /** The number of the status, such as 5 for NOT_FOUND. */
  readonly code: number;
  /** The text for people. */
  readonly details: string;
  /** The values of a key of the trailers. */
  readonly trailers: (key: string) => readonly (string | Uint8Array)[];
}

/** The call that a status ended. */
interface StatusCall {
  readonly version: string;
  readonly operation: OperationName;
}

/** The errors of statuses without a reason (Spec §5.4). Others are internal errors. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  1: 'UNAVAILABLE',
  3: 'INVALID_PARAMS',
  4: 'UNAVAILABLE',
  5: 'TASK_NOT_FOUND',
  6: 'INVALID_REQUEST',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'UNSUPPORTED_OPERATION',
  10: 'UNAVAILABLE',
  11: 'INVALID_PARAMS',
  12: 'UNSUPPORTED_OPERATION',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
};

/** The key of the trailer with a serialized `google.rpc.Status` (Spec §10.6). */
const DETAILS_KEY = 'grpc-status-details-bin';
/** The form of an error text in 0.3, such as `TaskNotFoundError: …`: that version has no reasons. */
const NAMED = /^([A-Z]\w*)Error: (.*)$/s;

const FAILED_PRECONDITION = 9;

/** The error of a status, found by the reason in its details, then by its number (Spec §10.6). */
export function statusError({ code, details: text, trailers }: ReceivedStatus, call: StatusCall): A2AError {
  const said = detailsOf(trailers(DETAILS_KEY));
  const named = isLegacy(call.version) ? namedError(text) : undefined;
  const usual = code === FAILED_PRECONDITION ? lackOf(call) : undefined;
  const known = said.code ?? named?.code ?? usual ?? BY_STATUS[code] ?? 'INTERNAL_ERROR';
  const get = (key: string): string | null => trailers(key).find((value) => typeof value === 'string') ?? null;
  const retryAfter = get('retry-after');
  const retryAfterMs = retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
  return receivedError({
    code: known,
    message: (named?.message ?? text) || `The agent answered with status ${code} of gRPC`,
    details: { ...(retryAfterMs !== undefined && { retryAfterMs }), ...said.details },
    challenges: receivedChallenges({ get }),
  });
}

/** The error for a failed precondition without a reason, as the 0.3 line of the JavaScript SDK sends it. */
function lackOf({ version, operation }: StatusCall): ErrorCode | undefined {
  if (!isLegacy(version)) return undefined;
  return answersCard(operation) ? 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' : 'TASK_NOT_CANCELABLE';
}

function namedError(text: string): { readonly code: ErrorCode; readonly message: string } | undefined {
  const [, name = '', message = ''] = NAMED.exec(text) ?? [];
  const code = (OTHER_NAMES[name] ?? name.replace(/(?<=[a-z])(?=[A-Z])/g, '_')).toUpperCase();
  return isErrorCode(code) ? { code, message } : undefined;
}

/** Names of 0.3 that are not those of the codes. */
const OTHER_NAMES: Readonly<Record<string, ErrorCode>> = {
  AuthenticatedExtendedCardNotConfigured: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  Internal: 'INTERNAL_ERROR',
  JSONParse: 'PARSE_ERROR',
};

/** Decodes the details of a status. Malformed ones count as absent, so that the number of the status is used. */
function detailsOf([value]: readonly (string | Uint8Array)[]): SaidDetails {
  return readDetails(value === undefined || typeof value === 'string' ? [] : decodeStatus(value)?.details);
}
