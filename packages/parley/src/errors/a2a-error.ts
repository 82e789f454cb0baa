/** Codes of all errors that cross the wire. The first nine are from the specification (Spec §3.3.2). */
export const ERROR_CODES = [
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_AGENT_RESPONSE',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  'EXTENSION_SUPPORT_REQUIRED',
  'VERSION_NOT_SUPPORTED',
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_PARAMS',
  'PAYLOAD_TOO_LARGE',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
  'INTERNAL_ERROR',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The fault of one member of a request. `field` is a path such as `message.parts[0]`. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** Details of an error. All of them go on the wire. */
export interface ErrorDetails {
  /** Sent as the `metadata` of the ErrorInfo (Spec §3.3.2). */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Sent as a BadRequest. */
  readonly violations?: readonly FieldViolation[];
  /** Time until a retry makes sense, in ms. */
  readonly retryAfterMs?: number;
}

/** An error for the caller. Code, message and details are sent as they are; `cause` never leaves the process. */
export class A2AError extends Error {
  override readonly name: string = 'A2AError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}
