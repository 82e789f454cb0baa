import { receivedChallenges } from '../../auth/challenge.js';
import { A2AError, type ErrorCode, type ErrorDetails } from '../../errors/a2a-error.js';
import { receivedError } from '../../errors/received-error.js';
import { isObject } from '../../model/json.js';
import { passedBound } from '../../model/json-scan.js';
import { isErrorCode } from './error-numbers.js';
import { essence } from './media-type.js';

/** The details of an error body, which all bindings share (Spec §3.3.2). */
export interface SaidDetails {
  /** The reason, if it is a code of the protocol. */
  readonly code?: ErrorCode;
  readonly details: ErrorDetails;
}

/** Reads a list of details: ErrorInfo, BadRequest, RetryInfo. Others are ignored. */
export function readDetails(list: unknown): SaidDetails {
  let code: ErrorCode | undefined;
  let details: ErrorDetails = {};
  for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
    if (!isObject(item)) continue;
    const { reason, domain, metadata, fieldViolations, retryDelay } = item;
    if (domain === 'a2a-protocol.org' && isErrorCode(reason)) code = reason;
    if (isObject(metadata) && Object.keys(metadata).length > 0)
      details = { ...details, metadata: metadata as Record<string, string> };
    if (Array.isArray(fieldViolations)) details = { ...details, violations: fieldViolations };
    const retryAfterMs = typeof retryDelay === 'string' ? boundedWait(Number.parseFloat(retryDelay) * 1000) : undefined;
    if (retryAfterMs !== undefined) details = { ...details, retryAfterMs };
  }
  return code === undefined ? { details } : { code, details };
}

/** An error as an answer holds it. */
interface AnsweredError {
  readonly code: ErrorCode;
  /** The error in its own shape, or its text. */
  readonly said: unknown;
  readonly details: ErrorDetails;
}

/** The error of an answer, with the waiting time and the challenges of its HTTP headers. */
export function answeredError(response: Response, { code, said, details }: AnsweredError): A2AError {
  const retryAfterMs = details.retryAfterMs ?? retryAfter(response.headers);
  return receivedError({
    code,
    message: saidText(said) ?? `The agent answered ${statusOf(response)}${excerpt(said)}`,
    details: retryAfterMs === undefined ? details : { ...details, retryAfterMs },
    challenges: receivedChallenges(response.headers),
  });
}

/**
 * The text of an error. `message` is that of the protocol, `detail` and `title` are those of problem details and
 * FastAPI. Other frameworks write `error`.
 */
function saidText(said: unknown): string | undefined {
  if (!isObject(said)) return isText(said) ? said : undefined;
  const { message, detail, title, error } = said;
  return [message, detail, title, error].find(isText);
}

/** True for a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/**
 * Makes the error for an answer that is not of the protocol. It may come from a gateway, a proxy or a web framework.
 */
export function strangeAnswer(response: Response, text: string): A2AError {
  const type = essence(response.headers.get('content-type') ?? undefined) || 'no media type';
  const what = text.trim() === '' ? 'an empty body' : `${type} that is not of the protocol${excerpt(text)}`;
  const message = `The server answered ${statusOf(response)} with ${what}`;
  return answeredError(response, { code: codeOfStatus(response.status), said: message, details: {} });
}

/** Statuses with the same meaning in every binding. */
export const COMMON_STATUSES: readonly (readonly [status: number, code: ErrorCode])[] = [
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [405, 'METHOD_NOT_ALLOWED'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [415, 'CONTENT_TYPE_NOT_SUPPORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
  [504, 'UNAVAILABLE'],
];

const BY_STATUS = new Map<number, ErrorCode>([
  ...COMMON_STATUSES,
  [404, 'METHOD_NOT_FOUND'],
  [407, 'PERMISSION_DENIED'],
  [408, 'UNAVAILABLE'],
  [410, 'METHOD_NOT_FOUND'],
  [502, 'UNAVAILABLE'],
]);

/** The code of a status without a body. */
export function codeOfStatus(status: number): ErrorCode {
  if (status < 400) return 'INVALID_AGENT_RESPONSE';
  return BY_STATUS.get(status) ?? (status < 500 ? 'INVALID_REQUEST' : 'INTERNAL_ERROR');
}

/** The JSON value of a body, or of its first frame if it is an event stream; undefined if there is none. */
export function bodyValue(text: string): unknown {
  const value = tryJson(text);
  if (value !== undefined) return value;
  const line = text.split('\n').find((one) => one.startsWith('data:'));
  return line === undefined ? undefined : tryJson(line.slice(5));
}

/** The JSON value of a text; undefined if it is no JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusOf({ status, statusText }: Response): string {
  return statusText === '' ? `status ${status}` : `${status} ${statusText}`;
}

/** The title of a page, or the beginning of any other text or value. */
function excerpt(said: unknown): string {
  const text = typeof said === 'string' ? said : (JSON.stringify(said) ?? '');
  const isPage = /^\s*</.test(text);
  const shown = pieceOf(isPage ? (/<title>([^<]{1,200})/i.exec(text)?.[1] ?? '') : text);
  if (shown === '') return '';
  return isPage ? ` (${shown})` : `: ${shown}`;
}

/** The beginning of a text in one line, without control characters. */
function pieceOf(text: string): string {
  const start = text.trimStart();
  const piece = start
    .slice(0, 200)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return start.length > 200 ? `${piece}…` : piece;
}

/** The wait in milliseconds. A date is compared with the clock of the server that sent it. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return boundedWait(Number(value) * 1000);
  // `Date.parse` reads `-5` as a date.
  if (!/^[a-z]/i.test(value)) return undefined;
  return boundedWait(Math.max(0, Date.parse(value) - Date.parse(headers.get('date') ?? '')));
}

/** The longest time of a timer on every platform: 24.8 days. Longer timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A wait up to the longest timer; undefined for a negative or unreadable one. */
function boundedWait(ms: number): number | undefined {
  return ms >= 0 ? Math.min(ms, LONGEST_MS) : undefined;
}

/**
 * Refuses the JSON of a peer with too many members and elements, because parsing it would block the process.
 * @throws A2AError INVALID_AGENT_RESPONSE
 */
export function refuseItems(text: string, items: number): void {
  if (passedBound(text, { depth: Number.POSITIVE_INFINITY, items }) === undefined) return;
  const message = `The answer has more than ${items} members and elements, the limit answerItems`;
  throw new A2AError('INVALID_AGENT_RESPONSE', message);
}
