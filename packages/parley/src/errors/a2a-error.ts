/**
 * Codes of all errors that cross the wire. The first nine are from the specification (Spec §3.3.2). Each comment says
 * when the error comes and what its caller does about it: `npm run reference` writes it into docs/errors.md.
 */
export const ERROR_CODES = [
  /**
   * The task, or a push configuration of it, does not exist, or belongs to another user.
   * @remedy check the id and the credentials; an old task may have been removed.
   */
  'TASK_NOT_FOUND',
  /**
   * The task has ended, or ended while it was being canceled.
   * @remedy read the task: it has its final state.
   */
  'TASK_NOT_CANCELABLE',
  /**
   * The agent's card does not offer push notifications.
   * @remedy stream or poll instead.
   */
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  /**
   * The card does not offer the operation, or the state of the task forbids it, such as a message to an ended task.
   * @remedy look at `capabilities` in the card; begin a new task in the same context.
   */
  'UNSUPPORTED_OPERATION',
  /**
   * The agent does not accept a media type of the request, or does not produce the requested one; or the request is
   * compressed.
   * @remedy send a type from `defaultInputModes`; over HTTP, `application/json`.
   */
  'CONTENT_TYPE_NOT_SUPPORTED',
  /**
   * The agent, or a custom handler, gave an answer that the protocol does not allow.
   * @remedy repair the agent; the log names the fault.
   */
  'INVALID_AGENT_RESPONSE',
  /**
   * The card promises an extended card, but none is configured.
   * @remedy use the public card.
   */
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  /**
   * The card requires an extension that the request does not name in `A2A-Extensions`.
   * @remedy name it, if the client supports it.
   */
  'EXTENSION_SUPPORT_REQUIRED',
  /**
   * The interface does not offer the version in `A2A-Version`, or not for this method; or the header is absent, which
   * stands for 0.3.
   * @remedy send a version from the card; the error lists them in `supportedVersions`.
   */
  'VERSION_NOT_SUPPORTED',
  /**
   * The body is not JSON.
   * @remedy send JSON in UTF-8.
   */
  'PARSE_ERROR',
  /**
   * The JSON is not a request of the binding, such as a JSON-RPC batch.
   * @remedy send one request.
   */
  'INVALID_REQUEST',
  /**
   * There is no such method or route.
   * @remedy take the address from the card, method names from the specification.
   */
  'METHOD_NOT_FOUND',
  /**
   * The route exists, for another HTTP method.
   * @remedy use a method from the `Allow` header.
   */
  'METHOD_NOT_ALLOWED',
  /**
   * Members of the request are missing or wrong.
   * @remedy `fieldViolations` names each of them, and the message the first three.
   */
  'INVALID_PARAMS',
  /**
   * The body is larger than the limit of the server (10 MiB by default), or a file than `maxBytes`.
   * @remedy send less, or refer to files by `url`.
   */
  'PAYLOAD_TOO_LARGE',
  /**
   * Credentials are missing or wrong.
   * @remedy authenticate as `WWW-Authenticate` and `securitySchemes` of the card describe.
   */
  'UNAUTHENTICATED',
  /**
   * The credentials are good, but do not allow the operation.
   * @remedy ask the operator for the missing right.
   */
  'PERMISSION_DENIED',
  /**
   * A limit of the load is reached: open streams, running turns, waiting messages, large requests, or the files of a
   * caller. `limit` in the ErrorInfo names it.
   * @remedy try again after `Retry-After`.
   */
  'RESOURCE_EXHAUSTED',
  /**
   * The storage fails or is full, or the server is stopping.
   * @remedy try again after `Retry-After`.
   */
  'UNAVAILABLE',
  /**
   * The server failed; the request was valid.
   * @remedy the log of the server has the cause.
   */
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
