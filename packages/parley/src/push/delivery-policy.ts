import type { DeliveryOutcome } from '../store/push-storage.js';

/** The policy of attempts. Times are in ms. */
export interface DeliveryPolicy {
  /** Longest time from the request to the status of its answer. */
  readonly timeoutMs: number;
  /** Attempts for one event. Then its queue is parked. */
  readonly attempts: number;
  /**
   * Attempts for one event whose receiver refuses it for a reason that is usually permanent: most statuses of 3xx and
   * 4xx. The event is then given up, and later ones are sent: the final state of the task even after `attempts`
   * refusals.
   */
  readonly refusedAttempts: number;
  /** The delay after the first failure. It doubles with each further one. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Longest delay that a receiver may ask for by `Retry-After`. */
  readonly maxRetryAfterMs: number;
}

/** The default policy. */
export const DEFAULT_DELIVERY_POLICY: DeliveryPolicy = {
  timeoutMs: 15_000,
  attempts: 10,
  refusedAttempts: 3,
  firstDelayMs: 1_000,
  maxDelayMs: 300_000,
  maxRetryAfterMs: 3_600_000,
};

/** The result of one attempt. */
export type AttemptResult =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter?: string | undefined }
  | { readonly kind: 'failure'; readonly reason: FailureReason };

/**
 * `forbidden`: the address guard refused the destination. `unencodable`: the event has no body to send. `headers`: the
 * operator's function gave no headers.
 */
type FailureReason = 'timeout' | 'connection' | 'forbidden' | 'unencodable' | 'headers';

/** The decision after a failed attempt. */
type FailureOutcome = Extract<DeliveryOutcome, { readonly kind: 'retry' | 'park' }>;

/** The facts of a failed attempt. `failed`: failed attempts before this one, since the last delivered record. */
interface AttemptFacts {
  readonly failed: number;
  /** Sequence number of the record. */
  readonly seq: number;
  /** True if the record ends its task. */
  readonly isFinal: boolean;
  /** A number from 0 to 1, for jitter. */
  readonly random: number;
  /** ms since the epoch. */
  readonly now: number;
}

/** True if the receiver has acknowledged the event. */
export function isAcknowledged(result: AttemptResult): boolean {
  return result.kind === 'answer' && result.status >= 200 && result.status < 300;
}

/** Decides the action after a failed attempt: a retry after a delay, the next record, or none until a replay. */
export function afterFailure(result: AttemptResult, policy: DeliveryPolicy, facts: AttemptFacts): FailureOutcome {
  const status = result.kind === 'answer' ? { status: result.status } : {};
  const attempts = facts.failed + 1;
  const cause = causeOf(result);
  if (isGone(result)) return { kind: 'park', reason: cause, ...status };
  if (attempts >= mostAttempts(result, policy, facts)) {
    if (isOfRecord(result) && !facts.isFinal) return { kind: 'retry', inMs: 0, through: facts.seq, ...status };
    return { kind: 'park', reason: `${cause}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`, ...status };
  }
  const asked = result.kind === 'answer' ? retryAfterMs(result.retryAfter, facts.now) : undefined;
  const inMs = asked === undefined ? backoffMs(facts, policy) : Math.min(asked, policy.maxRetryAfterMs);
  return { kind: 'retry', inMs: Math.max(inMs, Math.min(policy.firstDelayMs, 1_000)), ...status };
}

/** The delay before the next attempt: doubled with each failure, with a jitter of a fifth. */
function backoffMs({ failed, random }: AttemptFacts, { firstDelayMs, maxDelayMs }: DeliveryPolicy): number {
  const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failed, 40));
  return Math.round(delay * (0.8 + 0.4 * random));
}

/**
 * Attempts since the last delivered record. The final state gets further attempts if records were given up before it.
 */
function mostAttempts(
  result: AttemptResult,
  { attempts, refusedAttempts }: DeliveryPolicy,
  { failed, isFinal }: AttemptFacts,
): number {
  if (isUnencodable(result)) return 0;
  const most = isRefusal(result) ? Math.min(refusedAttempts, attempts) : attempts;
  if (!isFinal || failed < most) return most;
  return failed < attempts ? attempts : attempts + refusedAttempts;
}

function isGone(result: AttemptResult): boolean {
  return result.kind === 'answer' && result.status === 410;
}

/** True if a retry of the event would fail in the same way. */
function isUnencodable(result: AttemptResult): boolean {
  return result.kind === 'failure' && result.reason === 'unencodable';
}

/** True if another record may succeed. */
function isOfRecord(result: AttemptResult): boolean {
  return isUnencodable(result) || (result.kind === 'answer' && isRefusal(result));
}

/** True if a retry is unlikely to succeed: the receiver refuses the request, or the guard its address. */
function isRefusal(result: AttemptResult): boolean {
  if (result.kind === 'failure') return result.reason === 'forbidden';
  const { status } = result;
  return status < 500 && status !== 408 && status !== 425 && status !== 429;
}

function causeOf(result: AttemptResult): string {
  if (result.kind === 'answer') return `HTTP status ${result.status}`;
  switch (result.reason) {
    case 'timeout':
      return 'no answer in time';
    case 'connection':
      return 'no connection';
    case 'headers':
      return 'no headers from the function of the operator';
    case 'forbidden':
      return 'the address is not allowed';
    case 'unencodable':
      return 'the event cannot be written in the protocol version of the configuration';
  }
}

/** The delay that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3). */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Za-z]{3},/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
